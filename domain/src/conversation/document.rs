//! [`Conversation`]: the whole conversation, folded directly from its events; [`Summary`]: all but its entries.

use std::{collections::BTreeMap, convert::Infallible, sync::Arc};

use foldline::transduce::{Batch, Emitter};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    entry::NormalizedEntry, event::DomainEvent, id::CorrId, session::Session, usage::TokenUsage,
    warning_kind::WarningKind,
};

/// The whole conversation: the result of applying the patches of a `PatchEmitter` in order to
/// [`Conversation::default`], `{"entries":[]}`.
///
/// It can be stored with serde at any time, and continued from there. While entries are open, the stored document has
/// an additional root key `open` with their correlation ids and indices.
///
/// ```
/// use foldline_domain::{Conversation, DomainEvent, NormalizedEntry, NormalizedEntryType};
///
/// let entry = NormalizedEntry::new(NormalizedEntryType::AssistantMessage, "to be ");
/// let mut conversation = Conversation::default();
/// conversation.apply(&DomainEvent::OpenEntry { corr_id: "t1".into(), entry: entry.into() });
///
/// let stored = serde_json::to_string(&conversation)?;
/// let mut conversation: Conversation = serde_json::from_str(&stored)?;
/// conversation.apply(&DomainEvent::GrowEntry { corr_id: "t1".into(), text: "or not".into() });
/// assert_eq!(conversation.entries[0].content, "to be or not");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conversation {
    /// The entries, each wrapped as `{"type":"NORMALIZED_ENTRY","content":{..}}` when serialised.
    #[serde(serialize_with = "serialize_entries", deserialize_with = "deserialize_entries")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<EntrySlot<NormalizedEntry>>"))]
    pub entries: Vec<Arc<NormalizedEntry>>,
    /// Everything except the entries, under separate root keys.
    #[serde(flatten)]
    pub summary: Summary,
    /// The indices of entries that still grow or await a result.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    open: BTreeMap<CorrId, usize>,
}

impl Conversation {
    /// Applies one event.
    pub fn apply(&mut self, event: &DomainEvent) {
        match event {
            DomainEvent::NewEntry { entry } => self.entries.push(Arc::clone(entry)),
            DomainEvent::OpenEntry { corr_id, entry } => self.open(corr_id, Arc::clone(entry)),
            DomainEvent::NewToolCall { corr_id, entry } => {
                self.open(corr_id, entry_of_call(corr_id, entry));
            }
            DomainEvent::GrowEntry { corr_id, text } => {
                if let Some(entry) = self.entry_mut(corr_id) {
                    Arc::make_mut(entry).content.push(text);
                }
            }
            DomainEvent::CloseEntry { corr_id, entry } => {
                if let (Some(old), Some(entry)) = (self.entry_mut(corr_id), entry) {
                    *old = Arc::clone(entry);
                }
                self.open.remove(corr_id);
            }
            DomainEvent::UpdateToolCall { corr_id, entry } => {
                if let Some(old) = self.entry_mut(corr_id) {
                    *old = entry_of_call(corr_id, entry);
                }
                if entry.tool().is_none_or(|tool| tool.status.is_final()) {
                    self.open.remove(corr_id);
                }
            }
            DomainEvent::Session(_) | DomainEvent::Usage { .. } | DomainEvent::Warning(_) => {
                self.summary.apply(event);
            }
            DomainEvent::SessionEnded => {}
        }
    }

    /// The document without the record of open entries.
    #[allow(dead_code, reason = "the store, which is above, continues documents")]
    pub(crate) fn closed(mut self) -> Self {
        self.open.clear();
        self
    }

    fn open(&mut self, corr_id: &CorrId, entry: Arc<NormalizedEntry>) {
        self.open.insert(corr_id.clone(), self.entries.len());
        self.entries.push(entry);
    }

    /// The open entry with this id; counts a warning if there is none.
    fn entry_mut(&mut self, corr_id: &CorrId) -> Option<&mut Arc<NormalizedEntry>> {
        let entry = self.open.get(corr_id).and_then(|&index| self.entries.get_mut(index));
        if entry.is_none() {
            self.summary.warn(WarningKind::UnknownCorrelation);
        }
        entry
    }
}

impl Emitter<DomainEvent, Infallible> for Conversation {
    fn emit(&mut self, event: &DomainEvent) -> Batch<Infallible> {
        self.apply(event);
        Batch::EMPTY
    }
}

impl<'e> FromIterator<&'e DomainEvent> for Conversation {
    fn from_iter<I: IntoIterator<Item = &'e DomainEvent>>(events: I) -> Self {
        let mut conversation = Self::default();
        for event in events {
            conversation.apply(event);
        }
        conversation
    }
}

/// The entry of a tool call always carries its correlation id, so that a late result can be assigned in a stored
/// conversation.
pub(crate) fn entry_of_call(
    corr_id: &CorrId,
    entry: &Arc<NormalizedEntry>,
) -> Arc<NormalizedEntry> {
    let mut entry = Arc::clone(entry);
    if entry.corr_id().is_none() {
        Arc::make_mut(&mut entry).metadata_mut().corr_id = Some(corr_id.clone());
    }
    entry
}

/// An entry in the form of documents and patches: `{"type":"NORMALIZED_ENTRY","content":{..}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct EntrySlot<E> {
    r#type: SlotType,
    pub(crate) content: E,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
enum SlotType {
    #[serde(rename = "NORMALIZED_ENTRY")]
    NormalizedEntry,
}

impl<E> EntrySlot<E> {
    /// Wraps an entry.
    pub(crate) fn new(entry: E) -> Self {
        Self { r#type: SlotType::NormalizedEntry, content: entry }
    }

    /// The entry.
    pub(crate) fn into_entry(self) -> E {
        self.content
    }
}

fn serialize_entries<S: Serializer>(
    entries: &[Arc<NormalizedEntry>],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(entries.iter().map(EntrySlot::new))
}

fn deserialize_entries<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Arc<NormalizedEntry>>, D::Error> {
    let slots = Vec::<EntrySlot<Arc<NormalizedEntry>>>::deserialize(deserializer)?;
    Ok(slots.into_iter().map(EntrySlot::into_entry).collect())
}

/// The session's facts, the total usage and the number of warnings of a conversation. Its size does not depend on the
/// length of the conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// The session's facts, each with its latest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Box<Session>>,
    /// The total usage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// The number of warnings of each kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub warnings: BTreeMap<WarningKind, u64>,
}

/// The part of a [`Summary`] changed by an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryPart {
    /// The session's facts.
    Session,
    /// The tokens used.
    Usage,
    /// The count of one kind of warning.
    Warning(WarningKind),
}

impl Summary {
    /// Applies an event, and returns the changed part.
    pub fn apply(&mut self, event: &DomainEvent) -> Option<SummaryPart> {
        match event {
            DomainEvent::Session(update) => {
                self.session.get_or_insert_default().merge(update);
                Some(SummaryPart::Session)
            }
            DomainEvent::Usage { usage, .. } => {
                self.usage.get_or_insert_default().add(usage);
                Some(SummaryPart::Usage)
            }
            DomainEvent::Warning(warning) => Some(self.warn(warning.kind)),
            _ => None,
        }
    }

    /// Counts a warning.
    pub fn warn(&mut self, kind: WarningKind) -> SummaryPart {
        *self.warnings.entry(kind).or_default() += 1;
        SummaryPart::Warning(kind)
    }
}
