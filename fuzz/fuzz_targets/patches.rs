//! The patches of a log, applied by `json-patch` and by this crate, give the same document as its events.
#![no_main]

use foldline_agents::{Records, Registry};
use foldline_domain::{Conversation, DomainEvent, Located, locating, patch::{ConversationPatch, PatchEmitter}};
use foldline::{processor::{LineFramer, Processor}, transduce::{Batch, emit_fn, Transducer}};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, log)) = bytes.split_first() else { return };
    let registry = Registry::builtin();
    let count = registry.iter().count();
    let mut executors = registry.iter().skip(usize::from(*choice) % count);
    let executor = executors.next().expect("there are executors");
    let keep = emit_fn(|event: &Located<DomainEvent>| Batch::one(event.item.clone()));
    let transducer = Transducer::new(locating(executor), keep);
    let mut processor = Processor::with_framer(Records, transducer, LineFramer::new(1 << 16));
    let mut events = Vec::new();
    processor.push(log, |event| events.push(event));
    processor.finish(|event| events.push(event));

    let folded: Conversation = events.iter().collect();
    let mut emitter = PatchEmitter::default();
    let mut patches: Vec<ConversationPatch> =
        events.iter().filter_map(|event| emitter.patch(event)).collect();
    patches.extend(emitter.remaining());
    let mut ours = Conversation::default();
    let mut theirs = serde_json::json!({"entries": []});
    for patch in patches {
        patch.apply_to(&mut ours).expect("a patch fits");
        json_patch::patch(&mut theirs, &json_patch::Patch::from(patch)).expect("a patch applies");
    }
    let folded = serde_json::to_value(folded).expect("a conversation has a JSON form");
    assert_eq!(theirs, folded);
    assert_eq!(serde_json::to_value(ours).expect("a conversation has a JSON form"), folded);
});
