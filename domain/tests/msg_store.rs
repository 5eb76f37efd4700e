//! The live document: every subscriber ends with the complete document, regardless of when it subscribes and how fast
//! it reads.

use std::{
    collections::BTreeSet,
    future::Future,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::Duration,
};

use foldline_domain::{
    ActionType, Conversation, CorrId, DomainEvent, EntryIdx, NormalizedEntry, NormalizedEntryType,
    TokenUsage, ToolStatus, ToolUse, WarningKind,
    patch::{ConversationPatch, CorrIdResolver, DoesNotFit, EntryIndices, PatchEmitter},
    store::{MsgStore, Subscription, TryNextError, Update, UpdateId},
};
use proptest::prelude::*;
use serde_json::Value;

fn entry(text: &str) -> NormalizedEntry {
    NormalizedEntry::new(NormalizedEntryType::AssistantMessage, text)
}

fn call(id: &str, status: ToolStatus) -> (CorrId, Arc<NormalizedEntry>) {
    let action = ActionType::CommandRun { command: "ls".into(), result: None };
    let mut tool = ToolUse::new("Execute", action);
    tool.status = status;
    (id.into(), NormalizedEntry::new(NormalizedEntryType::ToolUse(tool), "ls").into())
}

fn new_call(id: &str) -> DomainEvent {
    let (corr_id, entry) = call(id, ToolStatus::Created);
    DomainEvent::NewToolCall { corr_id, entry }
}

fn end_call(id: &str) -> DomainEvent {
    let (corr_id, entry) = call(id, ToolStatus::Success);
    DomainEvent::UpdateToolCall { corr_id, entry }
}

fn push(store: &MsgStore, emitter: &mut PatchEmitter, event: &DomainEvent) {
    emitter.patch(event).into_iter().for_each(|patch| store.push(patch).unwrap());
}

fn document(store: &MsgStore) -> Value {
    serde_json::from_str(store.snapshot().json()).unwrap()
}

/// The folded events. The state that the fold needs to continue is not part of the document.
fn folded(events: &[DomainEvent]) -> Value {
    let folded: Conversation = events.iter().collect();
    let mut expected = serde_json::to_value(&folded).unwrap();
    expected.as_object_mut().unwrap().remove("open");
    expected
}

/// A reader that applies updates like any JSON Patch library.
#[derive(Default)]
struct Reader {
    document: Value,
    seq: u64,
    snapshots: usize,
}

impl Reader {
    fn read(&mut self, update: Update) {
        match update {
            Update::Snapshot(snapshot) => {
                assert!(self.snapshots == 0 || snapshot.seq > self.seq, "a snapshot of the past");
                self.document = serde_json::from_str(snapshot.json()).unwrap();
                self.seq = snapshot.seq;
                self.snapshots += 1;
            }
            Update::Patch(patch) => {
                assert_eq!(patch.seq, self.seq + 1, "a gap, or a patch twice");
                let patches: json_patch::Patch = serde_json::from_str(patch.json()).unwrap();
                json_patch::patch(&mut self.document, &patches).unwrap();
                self.seq = patch.seq;
            }
        }
    }

    fn read_some(&mut self, subscription: &mut Subscription, most: usize) {
        (0..most).map_while(|_| subscription.try_next().ok()).for_each(|update| self.read(update));
    }
}

#[test]
fn after_a_restart_the_store_knows_where_a_call_is() {
    let store = MsgStore::new();
    let mut emitter = PatchEmitter::default();
    for event in [DomainEvent::entry(entry("on it")), new_call("a"), new_call("b")] {
        emitter.patch(&event).into_iter().for_each(|patch| store.push(patch).unwrap());
    }
    // The process ends; only the document remains.
    drop(emitter);
    let stored = store.snapshot().json().to_owned();
    let store = MsgStore::from(serde_json::from_str::<Conversation>(&stored).unwrap());

    let mut emitter = store.emitter();
    for event in [end_call("b"), DomainEvent::entry(entry("done"))] {
        emitter.patch(&event).into_iter().for_each(|patch| store.push(patch).unwrap());
    }
    let entries = &store.snapshot().entries;
    let status = |index: usize| entries[index].tool().map(|tool| tool.status.clone());
    assert_eq!(entries.len(), 4);
    assert_eq!((status(1), status(2)), (Some(ToolStatus::Created), Some(ToolStatus::Success)));
    assert_eq!(entries[3].content, "done");
}

#[test]
fn without_a_resolver_a_late_result_is_a_warning() {
    let store = MsgStore::new();
    let mut emitter = PatchEmitter::default();
    store.push(emitter.patch(&new_call("a")).unwrap()).unwrap();

    let mut emitter = PatchEmitter::new(EntryIndices::starting_at(store.len()));
    store.push(emitter.patch(&end_call("a")).unwrap()).unwrap();
    let conversation = store.snapshot();
    assert_eq!(conversation.entries[0].tool().unwrap().status, ToolStatus::Created);
    assert_eq!(conversation.summary.warnings[&WarningKind::UnknownCorrelation], 1);
}

#[test]
fn only_calls_are_resolved() {
    let store = MsgStore::new();
    let mut note = entry("about a");
    note.metadata_mut().corr_id = Some("a".into());
    store.push(ConversationPatch::add_entry(EntryIdx::new(0), note)).unwrap();
    assert_eq!(store.resolve_corr_id(&"a".into()), None);
}

#[test]
fn a_patch_that_does_not_fit_changes_nothing_and_is_not_told() {
    let store = MsgStore::new();
    let mut subscription = store.subscribe();
    assert!(matches!(subscription.try_next(), Ok(Update::Snapshot(_))));
    let index = EntryIdx::new(1);
    for patch in [
        ConversationPatch::add_entry(index, entry("too far")),
        ConversationPatch::replace_entry(index, entry("nothing there")),
    ] {
        assert_eq!(store.push(patch), Err(DoesNotFit { index, len: 0 }));
    }
    assert!(store.is_empty());
    assert_eq!(subscription.try_next(), Err(TryNextError::Empty));
}

#[test]
fn a_call_that_has_ended_is_not_resolved() {
    let store = MsgStore::new();
    let mut emitter = PatchEmitter::default();
    [new_call("a"), new_call("b"), end_call("a")]
        .iter()
        .for_each(|event| push(&store, &mut emitter, event));
    for store in [store.clone(), MsgStore::from((**store.snapshot()).clone())] {
        assert_eq!(store.resolve_corr_id(&"a".into()), None);
        assert_eq!(store.resolve_corr_id(&"b".into()), Some(EntryIdx::new(1)));
    }
}

#[test]
fn a_reader_that_was_disconnected_continues_after_its_last_update() {
    let store = MsgStore::new().with_epoch("e");
    (0..2).for_each(|index| store.push(added(index)).unwrap());
    let mut subscription = store.subscribe();
    assert_eq!(subscription.try_next().unwrap().seq(), 2);
    drop(subscription);
    (2..5).for_each(|index| store.push(added(index)).unwrap());
    let next = |epoch: &str, seq| {
        let id = UpdateId { epoch: epoch.into(), seq };
        store.subscribe_after(&id).try_next()
    };
    for seq in 2..5 {
        assert!(matches!(next("e", seq), Ok(Update::Patch(patch)) if patch.seq == seq + 1));
    }
    assert_eq!(next("e", 5), Err(TryNextError::Empty));
    // Patches before the first reader are dropped, since no reader can have received them.
    for (epoch, seq) in [("e", 0), ("e", 1), ("e", 6), ("other", 3), ("", 3)] {
        assert!(matches!(next(epoch, seq), Ok(Update::Snapshot(snapshot)) if snapshot.seq == 5));
    }
}

#[test]
fn patches_of_large_entries_are_kept_up_to_a_size() {
    let store = MsgStore::new().with_epoch("e");
    drop(store.subscribe().try_next());
    let text = "x".repeat(1 << 20);
    (0..20).for_each(|index| {
        store.push(ConversationPatch::add_entry(EntryIdx::new(index), entry(&text))).unwrap();
    });
    let next = |seq| store.subscribe_after(&UpdateId { epoch: "e".into(), seq }).try_next();
    assert!(matches!(next(15), Ok(Update::Patch(patch)) if patch.seq == 16));
    assert!(matches!(next(2), Ok(Update::Snapshot(snapshot)) if snapshot.seq == 20));
}

#[test]
fn readers_share_updates_and_their_json() {
    let store = MsgStore::new();
    store.push(added(0)).unwrap();
    let mut readers = [store.subscribe(), store.subscribe()];
    let [first, second] = readers.each_mut().map(|reader| {
        // The document grows in between, and the snapshot is valid for both readers.
        let Ok(Update::Snapshot(snapshot)) = reader.try_next() else { panic!("a snapshot") };
        store.push(added(store.len())).unwrap();
        snapshot
    });
    assert!(Arc::ptr_eq(&first, &second) && std::ptr::eq(first.json(), second.json()));
    assert_eq!(store.snapshot().seq, 3);
    let [first, second] = readers.each_mut().map(|reader| {
        let Ok(Update::Patch(patch)) = reader.try_next() else { panic!("a patch") };
        patch
    });
    assert!(Arc::ptr_eq(&first, &second) && std::ptr::eq(first.json(), second.json()));
}

#[test]
fn a_document_that_is_restored_reaches_every_reader_as_a_snapshot() {
    let store = MsgStore::new();
    let mut subscription = store.subscribe();
    let mut reader = Reader::default();
    reader.read_some(&mut subscription, 1);
    let events = [new_call("a"), new_call("b"), end_call("b")];
    // The fold remembers the open call.
    store.restore(events.iter().collect());
    reader.read_some(&mut subscription, 9);
    assert_eq!((&reader.document, reader.snapshots), (&folded(&events), 2));
    let mut emitter = store.emitter();
    store.push(emitter.patch(&end_call("a")).unwrap()).unwrap();
    reader.read_some(&mut subscription, 9);
    assert_eq!((reader.document, reader.snapshots), (document(&store), 2));
    assert_eq!(store.snapshot().entries[0].tool().unwrap().status, ToolStatus::Success);
}

#[test]
fn readers_wait_for_what_comes_and_end_with_the_store() {
    const PATCHES: usize = 2000;
    let store = MsgStore::new();
    let readers: Vec<_> = [1, 8, 4096]
        .map(|capacity| {
            let subscription = store.subscribe_with_capacity(capacity);
            thread::spawn(move || {
                let mut reader = Reader::default();
                subscription.for_each(|update| reader.read(update));
                reader.document
            })
        })
        .into();
    for index in 0..PATCHES {
        let patch = ConversationPatch::add_entry(EntryIdx::new(index), entry("x"));
        store.push(patch).unwrap();
    }
    store.close();
    let expected = document(&store);
    for reader in readers {
        assert!(reader.join().unwrap() == expected);
    }
    let mut late = store.subscribe();
    assert!(matches!(late.next_within(Duration::ZERO), Ok(Update::Snapshot(_))));
    assert_eq!(late.next_within(Duration::from_secs(60)), Err(TryNextError::Closed));
}

fn added(index: usize) -> ConversationPatch {
    ConversationPatch::add_entry(EntryIdx::new(index), entry("x"))
}

/// Runs a future on this thread, which sleeps until it is unparked.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(done) => return done,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn tasks_wait_for_what_comes_and_end_with_the_store() {
    const PATCHES: usize = 2000;
    let store = MsgStore::new();
    let readers: Vec<_> = [1, 8, 4096]
        .map(|capacity| {
            let mut subscription = store.subscribe_with_capacity(capacity);
            thread::spawn(move || {
                block_on(async {
                    let mut reader = Reader::default();
                    while let Some(update) = subscription.next_update().await {
                        reader.read(update);
                    }
                    reader.document
                })
            })
        })
        .into();
    (0..PATCHES).for_each(|index| store.push(added(index)).unwrap());
    let expected = document(&store);
    // Dropping the last handle also closes the store.
    drop(store);
    for reader in readers {
        assert!(reader.join().unwrap() == expected);
    }
}

#[test]
fn a_task_is_woken_once_for_each_wait() {
    #[derive(Default)]
    struct Count(AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let count = Arc::new(Count::default());
    let woken = || count.0.load(Ordering::Relaxed);
    let waker = Waker::from(Arc::clone(&count));
    let mut cx = Context::from_waker(&waker);

    let store = MsgStore::new();
    let mut subscription = store.subscribe();
    let mut other = store.subscribe();
    assert!(matches!(subscription.poll_next(&mut cx), Poll::Ready(Some(Update::Snapshot(_)))));
    for waits in 1..4 {
        assert_eq!(subscription.poll_next(&mut cx), Poll::Pending);
        assert_eq!(subscription.poll_next(&mut cx), Poll::Pending);
        assert_eq!(woken(), waits - 1);
        store.push(added(2 * waits - 2)).unwrap();
        store.push(added(2 * waits - 1)).unwrap();
        assert_eq!(woken(), waits);
        for _ in 0..2 {
            assert!(matches!(subscription.poll_next(&mut cx), Poll::Ready(Some(_))));
        }
    }
    assert_eq!(subscription.poll_next(&mut cx), Poll::Pending);
    let clone = store.clone();
    drop(store);
    assert_eq!((woken(), other.try_next().is_ok()), (3, true));
    drop(clone);
    assert_eq!((woken(), other.try_next()), (4, Err(TryNextError::Closed)));
    assert_eq!(subscription.poll_next(&mut cx), Poll::Ready(None));
}

/// Removes events that open an id again, which executors must not emit.
fn opened_once(events: Vec<DomainEvent>) -> Vec<DomainEvent> {
    let mut opened = BTreeSet::new();
    let is_new = |event: &DomainEvent| match event {
        DomainEvent::OpenEntry { corr_id, .. } | DomainEvent::NewToolCall { corr_id, .. } => {
            opened.insert(corr_id.clone())
        }
        _ => true,
    };
    events.into_iter().filter(is_new).collect()
}

/// Any event of a conversation; there are few ids, so that they collide.
fn event() -> impl Strategy<Value = DomainEvent> {
    let id = "[a-d]".prop_map(CorrId::from);
    prop_oneof![
        "[a-z]{0,9}".prop_map(|text| DomainEvent::entry(entry(&text))),
        id.clone().prop_map(|id| new_call(id.as_str())),
        id.clone().prop_map(|id| end_call(id.as_str())),
        id.clone().prop_map(|id| DomainEvent::OpenEntry {
            corr_id: format!("{id}/0").into(),
            entry: entry("").into()
        }),
        (id.clone(), "[a-z]{1,9}").prop_map(|(id, text)| DomainEvent::GrowEntry {
            corr_id: format!("{id}/0").into(),
            text: text.into()
        }),
        id.prop_map(|id| DomainEvent::CloseEntry {
            corr_id: format!("{id}/0").into(),
            entry: None
        }),
        (0u64..9).prop_map(|input| DomainEvent::Usage {
            usage: Box::new(TokenUsage { input_tokens: Some(input), ..TokenUsage::default() }),
            model: None,
            message_id: None,
            timestamp: None
        }),
        Just(DomainEvent::warning(WarningKind::Malformed, "x")),
    ]
}

proptest! {
    #[test]
    fn whoever_joins_at_any_time_and_reads_at_any_speed_has_the_whole(
        events in prop::collection::vec(event(), 0..60).prop_map(opened_once),
        readers in prop::collection::vec((0usize..60, 0usize..6, prop::collection::vec(0usize..4, 1..6)), 1..4),
    ) {
        let store = MsgStore::new();
        let mut emitter = PatchEmitter::default();
        let mut running: Vec<Option<(Subscription, Reader)>> = readers.iter().map(|_| None).collect();
        for (at, event) in events.iter().enumerate() {
            for (slot, (joins, capacity, speeds)) in running.iter_mut().zip(&readers) {
                if at == *joins {
                    *slot = Some((store.subscribe_with_capacity(*capacity), Reader::default()));
                }
                if let Some((subscription, reader)) = slot {
                    reader.read_some(subscription, speeds[at % speeds.len()]);
                }
            }
            push(&store, &mut emitter, event);
        }
        emitter.remaining().for_each(|patch| store.push(patch).unwrap());
        let expected = folded(&events);
        prop_assert_eq!(document(&store), expected.clone());
        running.push(Some((store.subscribe(), Reader::default())));
        for (mut subscription, mut reader) in running.into_iter().flatten() {
            reader.read_some(&mut subscription, usize::MAX);
            prop_assert_eq!(reader.document, expected.clone());
        }
    }

    #[test]
    fn a_reader_that_is_disconnected_again_and_again_misses_nothing(
        events in prop::collection::vec(event(), 0..60).prop_map(opened_once),
        reads in prop::collection::vec(0usize..4, 1..6),
    ) {
        let store = MsgStore::new().with_epoch("e");
        let mut emitter = PatchEmitter::default();
        let mut reader = Reader::default();
        reader.read_some(&mut store.subscribe(), 1);
        let read = |reader: &mut Reader, most| {
            let has = UpdateId { epoch: store.epoch(), seq: reader.seq };
            reader.read_some(&mut store.subscribe_after(&has), most);
        };
        for (at, event) in events.iter().enumerate() {
            push(&store, &mut emitter, event);
            read(&mut reader, reads[at % reads.len()]);
        }
        read(&mut reader, usize::MAX);
        prop_assert_eq!((reader.document, reader.snapshots), (document(&store), 1));
    }

    /// A stored state continues calls, facts, totals and counts of warnings, but not growing text.
    #[test]
    fn a_restart_at_any_place_changes_nothing(
        events in prop::collection::vec(event(), 0..60).prop_map(opened_once),
        restarts in prop::collection::btree_set(0usize..60, 0..4),
    ) {
        let grows = |event: &DomainEvent| matches!(event, DomainEvent::OpenEntry { .. }
            | DomainEvent::GrowEntry { .. } | DomainEvent::CloseEntry { .. });
        let events: Vec<_> = events.into_iter().filter(|event| !grows(event)).collect();
        let mut store = MsgStore::new();
        let mut emitter = store.emitter();
        for (at, event) in events.iter().enumerate() {
            if restarts.contains(&at) {
                let stored: Conversation = serde_json::from_str(store.snapshot().json()).unwrap();
                store = MsgStore::from(stored);
                emitter = store.emitter();
            }
            emitter.patch(event).into_iter().for_each(|patch| store.push(patch).unwrap());
        }
        prop_assert_eq!(document(&store), folded(&events));
    }
}
