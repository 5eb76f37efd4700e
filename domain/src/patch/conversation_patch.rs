//! [`ConversationPatch`]: a JSON Patch, as a typed value.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde::{Serialize, Serializer, ser::Error};

use crate::conversation::{
    Conversation, EntryIdx, EntrySlot, NormalizedEntry, Session, TokenUsage, WarningKind,
};

/// One change of a conversation: a JSON Patch (RFC 6902) with one operation, for the document that begins as
/// `{"entries":[]}`.
///
/// It serialises directly to RFC 6902 and converts into [`json_patch::Patch`]. It shares the entry with the event
/// that caused it: cloning a patch copies nothing.
///
/// ```
/// use foldline_domain::{EntryIdx, NormalizedEntry, NormalizedEntryType, patch::ConversationPatch};
///
/// let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, "hello");
/// let patch = ConversationPatch::add_entry(EntryIdx::new(0), entry);
/// assert_eq!(
///     serde_json::to_string(&patch)?,
///     r#"[{"op":"add","path":"/entries/0","value":{"type":"NORMALIZED_ENTRY","content":{"timestamp":null,"entry_type":{"type":"user_message"},"content":"hello","metadata":null}}}]"#
/// );
/// let mut document = serde_json::json!({"entries": []});
/// json_patch::patch(&mut document, &json_patch::Patch::from(patch))?;
/// assert_eq!(document["entries"][0]["content"]["content"], "hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "PatchOperation"))]
#[serde(transparent)]
pub struct ConversationPatch([Operation; 1]);

/// One operation of RFC 6902.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Operation {
    op: Op,
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    path: Path,
    value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "PatchOp"))]
#[serde(rename_all = "lowercase")]
enum Op {
    Add,
    Replace,
}

/// A JSON Pointer (RFC 6901) into a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    Entry(EntryIdx),
    Session,
    Usage,
    Warnings,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry(index) => write!(f, "/entries/{index}"),
            Self::Session => f.write_str("/session"),
            Self::Usage => f.write_str("/usage"),
            Self::Warnings => f.write_str("/warnings"),
        }
    }
}

impl Serialize for Path {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Entry(index) => {
                const ENTRIES: &[u8] = b"/entries/";
                let (mut pointer, mut buffer) = ([0; 32], itoa::Buffer::new());
                let digits = buffer.format(index.get()).as_bytes();
                let end = ENTRIES.len() + digits.len();
                pointer[..ENTRIES.len()].copy_from_slice(ENTRIES);
                pointer[ENTRIES.len()..end].copy_from_slice(digits);
                serializer.serialize_str(str::from_utf8(&pointer[..end]).map_err(S::Error::custom)?)
            }
            _ => serializer.collect_str(self),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "PatchValue"))]
#[serde(untagged)]
enum Value {
    Entry(EntrySlot<Arc<NormalizedEntry>>),
    Session(Box<Session>),
    Usage(TokenUsage),
    Warnings(BTreeMap<WarningKind, u64>),
}

impl ConversationPatch {
    /// Adds an entry.
    pub fn add_entry(index: EntryIdx, entry: impl Into<Arc<NormalizedEntry>>) -> Self {
        let slot = EntrySlot::new(entry.into());
        Self::one(Op::Add, Path::Entry(index), Value::Entry(slot))
    }

    /// Replaces an entry.
    pub fn replace_entry(index: EntryIdx, entry: impl Into<Arc<NormalizedEntry>>) -> Self {
        let slot = EntrySlot::new(entry.into());
        Self::one(Op::Replace, Path::Entry(index), Value::Entry(slot))
    }

    /// Sets the session's facts.
    pub fn session(session: Session) -> Self {
        Self::one(Op::Add, Path::Session, Value::Session(Box::new(session)))
    }

    /// Sets the total tokens.
    pub fn usage(usage: TokenUsage) -> Self {
        Self::one(Op::Add, Path::Usage, Value::Usage(usage))
    }

    /// Sets the count of a kind of warning.
    pub fn warnings(warnings: BTreeMap<WarningKind, u64>) -> Self {
        Self::one(Op::Add, Path::Warnings, Value::Warnings(warnings))
    }

    fn one(op: Op, path: Path, value: Value) -> Self {
        Self([Operation { op, path, value }])
    }

    /// The entry that the patch adds or replaces.
    pub fn entry(&self) -> Option<(EntryIdx, &Arc<NormalizedEntry>)> {
        match &self.0 {
            [Operation { path: Path::Entry(index), value: Value::Entry(slot), .. }] => {
                Some((*index, &slot.content))
            }
            _ => None,
        }
    }

    /// Applies the patch to `conversation`. An entry can be added only after the last one, and replaced only
    /// if it exists; otherwise nothing changes.
    ///
    /// # Errors
    /// The patch does not fit this conversation.
    pub fn apply_to(&self, conversation: &mut Conversation) -> Result<(), DoesNotFit> {
        let [Operation { op, path, value }] = &self.0;
        let entries = &mut conversation.entries;
        match (path, value) {
            (Path::Entry(index), Value::Entry(slot)) => {
                let (len, entry) = (entries.len(), Arc::clone(&slot.content));
                match (op, entries.get_mut(index.get())) {
                    (Op::Replace, Some(old)) => *old = entry,
                    (Op::Add, None) if index.get() == len => entries.push(entry),
                    _ => return Err(DoesNotFit { index: *index, len }),
                }
            }
            (_, Value::Session(session)) => conversation.summary.session = Some(session.clone()),
            (_, Value::Usage(usage)) => conversation.summary.usage = Some(*usage),
            (_, Value::Warnings(warnings)) => conversation.summary.warnings.clone_from(warnings),
            // Unreachable: no constructor creates such a patch.
            (_, Value::Entry(_)) => {}
        }
        Ok(())
    }

    /// Its approximate size in memory in bytes.
    pub(crate) fn size(&self) -> usize {
        // Other values are small, and of bounded size.
        const OVERHEAD: usize = 512;
        self.entry().map_or(0, |(_, entry)| entry.size()) + OVERHEAD
    }
}

/// The error for a patch that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a patch for entry {index} does not fit a conversation of {len} entries")]
pub struct DoesNotFit {
    /// The entry that the patch is for.
    pub index: EntryIdx,
    /// The number of entries of the conversation.
    pub len: usize,
}

impl From<ConversationPatch> for json_patch::Patch {
    fn from(patch: ConversationPatch) -> Self {
        let operations = patch.0.map(|Operation { op, path, value }| {
            // Every value here has string keys and a JSON form; every path is a valid pointer.
            let value = serde_json::to_value(value).unwrap_or_default();
            let path = json_patch::jsonptr::PointerBuf::parse(path.to_string()).unwrap_or_default();
            match op {
                Op::Add => {
                    json_patch::PatchOperation::Add(json_patch::AddOperation { path, value })
                }
                Op::Replace => json_patch::PatchOperation::Replace(json_patch::ReplaceOperation {
                    path,
                    value,
                }),
            }
        });
        Self(operations.into())
    }
}
