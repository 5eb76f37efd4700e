//! [`HtmlEmitter`]: renders an entry as an `<article>` when it is created or changed.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use foldline::transduce::{Batch, Emitter, Resume};
use foldline_domain::{
    CorrId, DomainEvent, EntryIdx, NormalizedEntry, NormalizedEntryType, Timestamp,
    patch::{EntryIndexProvider, EntryIndices},
};
use jiff::tz::TimeZone;
use maud::{Render, html};
use serde::{Deserialize, Serialize};

use super::{
    entry::render,
    fragment::{Fragment, Medium, Place, Rendered, Setting},
    text::text,
    time::Clock,
};

/// The number of ended calls that may still receive entries of a background sub-agent.
const MOST_ENDED: usize = 256;
/// Bounds the walk from call to parent call, which may be cyclic in an invalid log.
const MOST_DEPTH: usize = 32;

/// Converts domain events into [`Fragment`]s of HTML, at most one per event.
///
/// Indices match those of a [`PatchEmitter`](foldline_domain::patch::PatchEmitter) that reads the same events.
/// Growing text is sent in pieces, escaped and without Markdown, and the entry is rendered as a whole only when it is
/// closed: the sent bytes stay within a constant factor of the final text.
///
/// It remembers growing entries, open calls, and the last calls that have ended.
///
/// ```
/// use foldline::transduce::Emitter;
/// use foldline_domain::{DomainEvent, NormalizedEntry, NormalizedEntryType::AssistantMessage};
/// use foldline_render::html::{HtmlEmitter, Place};
///
/// let mut html = HtmlEmitter::default();
/// let event = DomainEvent::entry(NormalizedEntry::new(AssistantMessage, "*Done*, see <b>"));
/// let fragments = html.emit(&event);
/// let [fragment] = fragments.as_slice() else { panic!("one entry, one fragment") };
/// assert_eq!((fragment.index.get(), fragment.place), (0, Place::Append));
/// assert!(fragment.html.contains("<p><em>Done</em>, see &lt;b&gt;</p>"));
/// ```
#[derive(Clone, Debug)]
pub struct HtmlEmitter<P = EntryIndices> {
    state: HtmlState,
    indices: P,
    medium: Medium,
}

/// The memory of an [`HtmlEmitter`]: a plain value that can be stored with serde.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct HtmlState {
    growing: BTreeMap<CorrId, Growing>,
    calls: BTreeMap<CorrId, Call>,
    /// The last ended calls, in order.
    ended: VecDeque<(CorrId, EntryIdx)>,
    /// The last call, if nothing followed it in the main conversation.
    last_call: Option<CorrId>,
    turns: u64,
    /// Whether a model was named: a different model later divides the conversation.
    #[serde(default)]
    has_model: bool,
    /// The first moment of the day after that of the last entry.
    #[serde(default)]
    next_day: Option<Timestamp>,
    unknown: u64,
}

/// The state of an [`HtmlEmitter`] that counts its own entries: its memory and the next index.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HtmlEmitterState {
    emitter: HtmlState,
    next_index: usize,
}

/// A growing entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Growing {
    index: EntryIdx,
    parent: Option<EntryIdx>,
    turn: Option<u64>,
    #[serde(default)]
    is_new_day: bool,
    entry: Arc<NormalizedEntry>,
}

/// An open call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Call {
    index: EntryIdx,
    parent: Option<EntryIdx>,
    /// The call whose sub-agent made this call.
    lane: Option<CorrId>,
    /// The last call of its own sub-agent, if nothing followed it.
    last_call: Option<CorrId>,
    #[serde(default)]
    is_new_day: bool,
    with_last: bool,
    with_next: bool,
    entries: u64,
    bad: u64,
}

impl Default for HtmlEmitter {
    /// An emitter for a new conversation.
    fn default() -> Self {
        Self::new(EntryIndices::default())
    }
}

impl HtmlEmitter {
    /// The same emitter with a counter of its own. Clones share one.
    pub(super) fn apart(&self) -> Self {
        let Self { state, indices, medium } = self;
        let indices = EntryIndices::starting_at(indices.given());
        Self { state: state.clone(), indices, medium: medium.clone() }
    }
}

impl<P: EntryIndexProvider> HtmlEmitter<P> {
    /// An emitter that takes the indices of new entries from `indices`.
    pub fn new(indices: P) -> Self {
        Self { state: HtmlState::default(), indices, medium: Medium::default() }
    }

    /// The page has a server. A link at the end of each entry asks it for the records that the entry was derived
    /// from: `?explain=` and the index of the entry. Pictures are not in the page, but at `?picture=`, the index of the
    /// entry, a dot, and their number in it from zero.
    #[must_use]
    pub fn served(mut self) -> Self {
        self.medium.is_served = true;
        self
    }

    /// Shows all times in this zone instead of UTC. Set it before the first event.
    #[must_use]
    pub fn in_zone(mut self, zone: TimeZone) -> Self {
        self.medium.clock = Clock(zone);
        self
    }

    /// The number of updates to unknown entries; they have no fragment.
    pub fn unknown(&self) -> u64 {
        self.state.unknown
    }

    /// The number of prompts by a person.
    pub fn turns(&self) -> u64 {
        self.state.turns
    }

    /// The fragment for an event. Facts about the session, usage and warnings have none.
    pub fn fragment(&mut self, event: &DomainEvent) -> Option<Fragment> {
        let fragment = self.changed(event)?;
        Some(if self.medium.is_served { explained(fragment) } else { fragment })
    }

    fn changed(&mut self, event: &DomainEvent) -> Option<Fragment> {
        match event {
            DomainEvent::NewEntry { entry } => Some(self.append(entry)),
            DomainEvent::OpenEntry { corr_id, entry } => Some(self.open(corr_id, entry)),
            DomainEvent::GrowEntry { corr_id, text } => {
                let Some(growing) = self.state.growing.get_mut(corr_id) else {
                    return self.missing();
                };
                Arc::make_mut(&mut growing.entry).content.push(text);
                Some(growing.grow(&text.decode()))
            }
            DomainEvent::CloseEntry { corr_id, entry } => {
                let Some(growing) = self.state.growing.remove(corr_id) else {
                    return self.missing();
                };
                Some(growing.close(entry.as_ref(), &self.medium))
            }
            DomainEvent::NewToolCall { corr_id, entry } => Some(self.call(corr_id, entry)),
            DomainEvent::UpdateToolCall { corr_id, entry } => self.update(corr_id, entry),
            DomainEvent::Session(_)
            | DomainEvent::Usage { .. }
            | DomainEvent::Warning(_)
            | DomainEvent::SessionEnded => None,
        }
    }

    /// The remaining fragments: entries that were never closed.
    pub fn remaining(&mut self) -> impl Iterator<Item = Fragment> + use<P> {
        let mut growing: Vec<_> = std::mem::take(&mut self.state.growing).into_values().collect();
        growing.sort_by_key(|growing| growing.index);
        let medium = self.medium.clone();
        growing.into_iter().map(move |growing| {
            let fragment = growing.close(None, &medium);
            if medium.is_served { explained(fragment) } else { fragment }
        })
    }

    fn append(&mut self, entry: &NormalizedEntry) -> Fragment {
        let parent = self.enter(entry, None);
        let (turn, is_divider) = (self.turn(entry), self.is_divider(entry));
        let is_new_day = self.is_new_day(entry);
        let setting = Setting { turn, is_divider, is_new_day, ..within(parent, &self.medium) };
        fragment(self.indices.next_index(), Place::Append, parent, entry, &setting)
    }

    fn open(&mut self, id: &CorrId, entry: &Arc<NormalizedEntry>) -> Fragment {
        let parent = self.enter(entry, None);
        let (turn, is_new_day) = (self.turn(entry), self.is_new_day(entry));
        let index = self.indices.next_index();
        let growing = Growing { index, parent, turn, is_new_day, entry: Arc::clone(entry) };
        let fragment = growing.render(Place::Append, entry, true, &self.medium);
        self.state.growing.insert(id.clone(), growing);
        fragment
    }

    fn call(&mut self, id: &CorrId, entry: &NormalizedEntry) -> Fragment {
        let lane = lane(entry).cloned();
        let before = match &lane {
            Some(lane) => self.state.calls.get(lane).and_then(|call| call.last_call.clone()),
            None => self.state.last_call.clone(),
        };
        let before = before.and_then(|before| self.state.calls.get_mut(&before));
        let with_last = before.map(|before| before.with_next = true).is_some();
        let parent = self.enter(entry, Some(id));
        let index = self.indices.next_index();
        let call = Call {
            index,
            parent,
            lane,
            last_call: None,
            is_new_day: self.is_new_day(entry),
            with_last,
            with_next: false,
            entries: 0,
            bad: 0,
        };
        let fragment = call.render(Place::Append, entry, &self.medium);
        self.state.calls.insert(id.clone(), call);
        fragment
    }

    fn update(&mut self, id: &CorrId, entry: &NormalizedEntry) -> Option<Fragment> {
        let Some(call) = self.state.calls.get(id) else { return self.missing() };
        let fragment = call.render(Place::Replace, entry, &self.medium);
        if entry.tool().is_none_or(|tool| tool.status.is_final()) {
            self.end(id, entry);
        }
        Some(fragment)
    }

    fn end(&mut self, id: &CorrId, entry: &NormalizedEntry) {
        let Some(call) = self.state.calls.remove(id) else { return };
        let is_bad = entry.tool().is_some_and(|tool| tool.status.is_failure());
        self.count(call.lane.as_ref(), 0, u64::from(is_bad));
        if self.state.ended.len() >= MOST_ENDED {
            self.state.ended.pop_front();
        }
        self.state.ended.push_back((id.clone(), call.index));
    }

    /// Counts a new entry in its enclosing calls, and returns the innermost one. `call` is the entry's id, if it is a
    /// call.
    fn enter(&mut self, entry: &NormalizedEntry, call: Option<&CorrId>) -> Option<EntryIdx> {
        let Some(lane) = lane(entry) else {
            self.state.last_call = call.cloned();
            return None;
        };
        let is_bad = entry.entry_type == NormalizedEntryType::ErrorMessage;
        self.count(Some(lane), 1, u64::from(is_bad));
        if let Some(parent) = self.state.calls.get_mut(lane) {
            parent.last_call = call.cloned();
            return Some(parent.index);
        }
        let mut ended = self.state.ended.iter().rev();
        ended.find(|(id, _)| id == lane).map(|(_, index)| *index)
    }

    fn count(&mut self, lane: Option<&CorrId>, entries: u64, bad: u64) {
        let mut lane = lane.cloned();
        for _ in 0..MOST_DEPTH {
            let Some(call) = lane.and_then(|id| self.state.calls.get_mut(&id)) else { return };
            call.entries += entries;
            call.bad += bad;
            lane = call.lane.clone();
        }
    }

    /// The number of a prompt, if the entry is a prompt by a person.
    fn turn(&mut self, entry: &NormalizedEntry) -> Option<u64> {
        let is_turn = entry.entry_type == NormalizedEntryType::UserMessage && lane(entry).is_none();
        self.state.turns += u64::from(is_turn);
        is_turn.then_some(self.state.turns)
    }

    /// Whether the entry divides the main conversation. Nothing precedes the first model.
    fn is_divider(&mut self, entry: &NormalizedEntry) -> bool {
        if lane(entry).is_some() {
            return false;
        }
        match entry.entry_type {
            NormalizedEntryType::Compaction | NormalizedEntryType::Continuation => true,
            NormalizedEntryType::ModelChange { .. } => {
                std::mem::replace(&mut self.state.has_model, true)
            }
            _ => false,
        }
    }

    /// Whether the entry before it in the main conversation is of an earlier day.
    fn is_new_day(&mut self, entry: &NormalizedEntry) -> bool {
        let Some(at) = entry.timestamp.filter(|_| lane(entry).is_none()) else { return false };
        if self.state.next_day.is_some_and(|next| at < next) {
            return false;
        }
        let next = self.medium.clock.next_day(at);
        std::mem::replace(&mut self.state.next_day, next).is_some()
    }

    fn missing(&mut self) -> Option<Fragment> {
        self.state.unknown += 1;
        None
    }
}

impl Growing {
    fn render(
        &self,
        place: Place,
        entry: &NormalizedEntry,
        is_open: bool,
        medium: &Medium,
    ) -> Fragment {
        let Self { turn, is_new_day, .. } = *self;
        let setting = Setting { turn, is_new_day, is_open, ..within(self.parent, medium) };
        fragment(self.index, place, self.parent, entry, &setting)
    }

    fn grow(&self, more: &str) -> Fragment {
        let html = text(more).render().into_string();
        Fragment { index: self.index, place: Place::Grow, parent: self.parent, html, inside: None }
    }

    fn close(&self, entry: Option<&Arc<NormalizedEntry>>, medium: &Medium) -> Fragment {
        self.render(Place::Replace, entry.unwrap_or(&self.entry), false, medium)
    }
}

impl Call {
    fn render(&self, place: Place, entry: &NormalizedEntry, medium: &Medium) -> Fragment {
        let Self { is_new_day, with_last, with_next, entries, bad, .. } = *self;
        let around = within(self.parent, medium);
        let setting = Setting { is_new_day, with_last, with_next, entries, bad, ..around };
        fragment(self.index, place, self.parent, entry, &setting)
    }
}

fn fragment(
    index: EntryIdx,
    place: Place,
    parent: Option<EntryIdx>,
    entry: &NormalizedEntry,
    setting: &Setting<'_>,
) -> Fragment {
    let Rendered { html, inside } = render(index, entry, setting);
    Fragment { index, place, parent, html, inside }
}

/// Adds a link to the records that the entry was derived from.
fn explained(mut fragment: Fragment) -> Fragment {
    if fragment.place != Place::Grow {
        let index = fragment.index.get();
        let link = html! {
            a.why href={ "?explain=" (index) "#e" (index) } title="Explain"
                aria-label={ "Explain entry " (index) } {}
        };
        fragment.html = with_last(&fragment.html, &link.into_string());
    }
    fragment
}

/// Appends content to the article.
pub(super) fn with_last(article: &str, last: &str) -> String {
    const END: &str = "</article>";
    let (start, end) = match article.strip_suffix(END) {
        Some(start) => (start, END),
        None => (article, ""),
    };
    [start, last, end].concat()
}

fn within(parent: Option<EntryIdx>, medium: &Medium) -> Setting<'_> {
    Setting::new(medium, parent.is_some())
}

/// The call whose sub-agent produced an entry.
fn lane(entry: &NormalizedEntry) -> Option<&CorrId> {
    entry.metadata.as_ref()?.parent_corr_id.as_ref()
}

impl<P: EntryIndexProvider> Emitter<DomainEvent, Fragment> for HtmlEmitter<P> {
    fn emit(&mut self, event: &DomainEvent) -> Batch<Fragment> {
        Batch::from(self.fragment(event))
    }

    fn finish(&mut self) -> Batch<Fragment> {
        self.remaining().collect()
    }
}

/// If several emitters share the [`EntryIndices`], store and resume their memories together.
impl Resume for HtmlEmitter<EntryIndices> {
    type State = HtmlEmitterState;

    fn state(&self) -> HtmlEmitterState {
        HtmlEmitterState { emitter: self.state.clone(), next_index: self.indices.given() }
    }

    fn resume(&mut self, state: HtmlEmitterState) {
        self.state = state.emitter;
        self.indices.resume_at(state.next_index);
    }
}
