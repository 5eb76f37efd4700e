//! [`Evidence`]: the certainty that a record belongs to a format; [`Recogniser`]: detects the format of a log from its
//! first records.

use foldline_json::Raw;

use crate::{
    executor::Format,
    registry::Registry,
    wire::{Object, Record, value},
};

/// The certainty that a record belongs to a format.
///
/// There is no evidence *against* a format: an absent field proves too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// The record is no evidence.
    None,
    /// Logs of this format have such records; other formats may have them, too.
    Possible,
    /// Only logs of this format have such records.
    Certain,
}

impl Evidence {
    /// [`Certain`](Self::Certain), or [`None`](Self::None).
    pub fn certain_if(is_certain: bool) -> Self {
        if is_certain { Self::Certain } else { Self::None }
    }

    /// [`Possible`](Self::Possible), or [`None`](Self::None).
    pub fn possible_if(is_possible: bool) -> Self {
        if is_possible { Self::Possible } else { Self::None }
    }
}

/// Judges a record for a format. Takes nothing from the record.
pub type Judge = fn(&Object<'_>) -> Evidence;

/// The object in a field, without taking it.
pub(super) fn nested<'a>(object: &Object<'a>, field: &str) -> Option<Object<'a>> {
    value::object(object.get(field)?)
}

/// Whether all of these fields are strings.
pub(super) fn all_strings(object: &Object<'_>, fields: &[&str]) -> bool {
    fields.iter().all(|field| object.get(field).is_some_and(Raw::is_string))
}

/// Whether the record comes from a session file with a tree of messages.
pub(super) fn is_tree_record(object: &Object<'_>) -> bool {
    object.has("parentUuid")
        || (object.has("sessionId") && (object.has("uuid") || object.has("message")))
}

/// The message of a `user` or `assistant` record in the format of Claude Code's stream.
pub(super) fn message<'a>(object: &Object<'a>) -> Option<Object<'a>> {
    if is_tree_record(object) {
        return None;
    }
    nested(object, "message").filter(|message| message.has("content"))
}

impl Registry {
    /// A recogniser for one log.
    pub fn recogniser(&self) -> Recogniser {
        let left = self.formats().map(|_| Some(Evidence::None)).collect();
        Recogniser { registry: self.clone(), left }
    }
}

/// The format of a log, according to the records so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The format is known, and no later record changes it.
    Certain(&'static Format),
    /// Only this format is left, but no record proves it. It is the answer at the end of the log or of its readable
    /// part.
    Likely(&'static Format),
    /// The records seen so far could be of several formats.
    Undecided,
    /// Several formats are certain of the same records. No later record changes this.
    Disputed(Vec<&'static Format>),
    /// Two records belong to no common format. No later record changes this.
    Contradictory,
}

impl Verdict {
    /// The certain or likely format.
    pub fn format(&self) -> Option<&'static Format> {
        match self {
            Self::Certain(format) | Self::Likely(format) => Some(format),
            _ => None,
        }
    }

    /// Whether no later record changes it.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Certain(_) | Self::Disputed(_) | Self::Contradictory)
    }
}

/// Detects the format of a log from its first records. Created by [`Registry::recogniser`].
///
/// Every format judges each record alone. The formats with the best [`Evidence`] remain; a record without evidence for
/// any format is ignored. So a log without its beginning is recognised from its other records, and weak evidence
/// accumulates.
///
/// ```
/// use foldline_agents::{Registry, Verdict, wire::Record};
///
/// let registry = Registry::builtin();
/// let mut recogniser = registry.recogniser();
/// for line in ["Reading prompt from stdin...", r#"{"type":"turn.started"}"#] {
///     Record::read(line, |_, record| recogniser.observe(&record));
/// }
/// let codex = registry.named("codex-exec").ok_or("no executor")?;
/// assert_eq!(recogniser.verdict(), Verdict::Certain(codex.format()));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recogniser {
    registry: Registry,
    /// The best evidence for each format; `None` for a format that is ruled out.
    left: Vec<Option<Evidence>>,
}

impl Recogniser {
    /// Evaluates the next record. A record that is not an object is ignored, as is every record after the verdict [is
    /// final](Verdict::is_final).
    pub fn observe(&mut self, record: &Record<'_>) {
        if let Record::Object(object) = record
            && !self.verdict().is_final()
        {
            self.narrow(object);
        }
    }

    fn narrow(&mut self, object: &Object<'_>) {
        let evidence = self.registry.judge(object);
        let best = evidence.iter().copied().max().unwrap_or(Evidence::None);
        for (left, evidence) in self.left.iter_mut().zip(evidence) {
            *left = left.filter(|_| evidence == best).map(|earlier| earlier.max(evidence));
        }
    }

    /// The verdict on the records so far.
    pub fn verdict(&self) -> Verdict {
        let certain: Vec<_> = self.with_evidence(Evidence::Certain).collect();
        let mut left = self.with_evidence(Evidence::None);
        match (certain.as_slice(), left.next(), left.next()) {
            ([], None, _) => Verdict::Contradictory,
            ([], Some(_), Some(_)) => Verdict::Undecided,
            ([], Some(format), None) => Verdict::Likely(format),
            ([format], _, None) => Verdict::Certain(format),
            ([_], ..) => Verdict::Undecided,
            _ => Verdict::Disputed(certain),
        }
    }

    /// The formats that remain possible; all formats before the first record with evidence.
    pub fn candidates(&self) -> impl Iterator<Item = &'static Format> {
        self.with_evidence(Evidence::None)
    }

    fn with_evidence(&self, least: Evidence) -> impl Iterator<Item = &'static Format> {
        let formats = self.registry.formats().zip(&self.left);
        formats.filter(move |(_, left)| **left >= Some(least)).map(|(format, _)| format)
    }
}
