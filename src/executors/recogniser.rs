//! [`Recogniser`]: tells the format of a log from its first records.

use super::{
    evidence::Evidence,
    format::Format,
    registry::Registry,
    wire::{Object, Record},
};

impl Registry {
    /// Begins to recognise the format of a log.
    pub fn recogniser(&self) -> Recogniser {
        let left = self.formats().map(|_| Some(Evidence::None)).collect();
        Recogniser { registry: self.clone(), left }
    }
}

/// What is known of the format of a log so far.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The format is known, and no later record changes it.
    Certain(&'static Format),
    /// Only this format is left, and no record proves it. At the end of the log, or of what can be
    /// looked at of it, it may be taken.
    Likely(&'static Format),
    /// The records seen so far could be of several formats.
    Undecided,
    /// Several formats are certain of the same records. No later record changes this.
    Disputed(Vec<&'static Format>),
    /// Two records belong to no common format. No later record changes this.
    Contradictory,
}

impl Verdict {
    /// The format, certain or likely.
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

/// Recognises the format of a log from its first records. Made by [`Registry::recogniser`].
///
/// Every format judges each record alone. Those with the best [`Evidence`] stay; a record that no
/// format has evidence for leaves all of them. So a log whose beginning was cut off is recognised
/// from the records that are left, and weak signs add up.
///
/// ```
/// use foldline::executors::{Registry, Verdict, wire::Record};
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
    /// The best evidence for each format; none for those that are ruled out.
    left: Vec<Option<Evidence>>,
}

impl Recogniser {
    /// Takes note of the next record. What is no object says nothing, and once the verdict
    /// [is final](Verdict::is_final), nothing else does.
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

    /// What is known so far.
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

    /// The formats that the log may still have; all of them before the first telling record.
    pub fn candidates(&self) -> impl Iterator<Item = &'static Format> {
        self.with_evidence(Evidence::None)
    }

    fn with_evidence(&self, least: Evidence) -> impl Iterator<Item = &'static Format> {
        let formats = self.registry.formats().zip(&self.left);
        formats.filter(move |(_, left)| **left >= Some(least)).map(|(format, _)| format)
    }
}
