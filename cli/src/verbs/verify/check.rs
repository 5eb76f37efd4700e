//! [`Check`]: what is checked of the records of a trail beside their chain.

use std::{collections::BTreeMap, path::Path};

use foldline::{
    conversation::Digest,
    emitters::audit::{About, Head, PublicKey, Signature, Verified},
    emitters::human,
};

use super::{
    comparison::{Comparison, Fit},
    source::SourceLines,
};
use crate::exit;

/// The number of gaps that are named.
const NAMED: usize = 10;

/// The sources with which the good records are compared.
pub(super) struct Check<'s> {
    sources: Vec<Source>,
    /// The keys that it may be signed with.
    keys: &'s [PublicKey],
    /// The number of signatures.
    signatures: u64,
    /// The last record that is signed, and the key that it is said to be signed with.
    signed: Option<(u64, String)>,
    /// The number of records of logs that were not given, by log.
    elsewhere: BTreeMap<Option<String>, u64>,
    /// The number of records of logs that may be one that was given, by their name.
    alike: u64,
    without_digest: u64,
    head: Option<Digest>,
    /// The record whose hash is the head that was given.
    head_at: Option<u64>,
    /// What is wrong with a signature.
    problem: Option<String>,
    /// The ledger that the trail belongs to.
    ledger: Option<String>,
    /// Where it says that something is missing; the first ones.
    gaps: Vec<String>,
    gap_count: usize,
}

/// A log that was given.
struct Source {
    lines: SourceLines,
    /// The records that name its path.
    by_path: Comparison,
    /// The records of logs of the same name in other folders, or that name none: it may have been moved. They
    /// count only if none names its path.
    by_name: Comparison,
}

impl Source {
    /// Whether it has the path that the trail names.
    fn is_named(&self, log: Option<&str>) -> bool {
        log.map(Path::new).is_some_and(|log| self.lines.path == log || self.lines.absolute == log)
    }

    /// Whether it has the file name that the trail names, or the trail names none.
    fn is_alike(&self, log: Option<&str>) -> bool {
        log.is_none_or(|log| self.lines.path.file_name() == Path::new(log).file_name())
    }

    fn comparison(&self) -> &Comparison {
        let is_named = self.by_path.compared > 0 || self.by_path.problem.is_some();
        if is_named { &self.by_path } else { &self.by_name }
    }
}

impl<'s> Check<'s> {
    pub(super) fn new(
        sources: Vec<SourceLines>,
        keys: &'s [PublicKey],
        head: Option<Digest>,
    ) -> Self {
        let sources = sources.into_iter().map(|lines| {
            let (by_path, by_name) = (Comparison::default(), Comparison::default());
            Source { lines, by_path, by_name }
        });
        let sources = sources.collect();
        let head_at = head.filter(|head| *head == Digest::default()).map(|_| 0);
        Self {
            sources,
            keys,
            signatures: 0,
            signed: None,
            elsewhere: BTreeMap::new(),
            alike: 0,
            without_digest: 0,
            head,
            head_at,
            problem: None,
            ledger: None,
            gaps: Vec::new(),
            gap_count: 0,
        }
    }

    pub(super) fn record(&mut self, record: &Verified) {
        if Some(record.hash) == self.head {
            self.head_at = Some(record.seq);
        }
        match &record.about {
            About::Event { log, line, line_sha256 } => {
                self.event(record.seq, log.as_deref(), *line, *line_sha256);
            }
            About::Trail { ledger, commits, .. } => {
                self.ledger = Some(ledger.clone());
                if *commits > 0 {
                    self.gap(format!("{commits} commits were made before the trail was begun"));
                }
            }
            About::Gap { after, commits } => {
                let (seq, missed) = (record.seq, commits.saturating_sub(*after));
                self.gap(format!("{missed} commits were made without it before record {seq}"));
            }
            About::Signature(signature) => self.signature(record.seq, signature),
            _ => {}
        }
    }

    fn gap(&mut self, gap: String) {
        self.gap_count += 1;
        if self.gaps.len() < NAMED {
            self.gaps.push(gap);
        }
    }

    fn signature(&mut self, seq: u64, signature: &Signature) {
        let key: String = signature.key.iter().map(|byte| format!("{byte:02x}")).collect();
        let is_right = self.keys.iter().any(|key| key.verifies(signature));
        if !self.keys.is_empty() && !is_right && self.problem.is_none() {
            self.problem = Some(match self.keys.iter().any(|own| own.to_string() == key) {
                true => format!("the signature in record {seq} is wrong"),
                false => format!("record {seq} is signed with another key: {key}"),
            });
        }
        self.signatures += 1;
        self.signed = Some((seq, key));
    }

    fn event(&mut self, seq: u64, log: Option<&str>, line: u64, line_sha256: Option<Digest>) {
        if self.sources.is_empty() {
            return;
        }
        let Some(digest) = line_sha256 else {
            self.without_digest += 1;
            return;
        };
        let is_named = self.sources.iter().any(|source| source.is_named(log));
        let candidates = candidates(&mut self.sources, log, is_named);
        if candidates.is_empty() {
            *self.elsewhere.entry(log.map(str::to_owned)).or_default() += 1;
            return;
        }
        self.alike += u64::from(!is_named);
        let mut first = None;
        for (lines, comparison) in candidates {
            if comparison.problem.is_some() {
                continue;
            }
            let why = match comparison.fits(lines, line, digest) {
                Ok(Fit::Fits) => return,
                Ok(Fit::Differs) => differs(seq, line, lines),
                Ok(Fit::Grown(line)) => {
                    let path = lines.path.display();
                    format!(
                        "something was added to line {line} of {path}, before record {seq} was made"
                    )
                }
                Err(error) => error.to_string(),
            };
            first.get_or_insert((comparison, why));
        }
        if let Some((comparison, why)) = first {
            comparison.problem = Some(why);
        }
    }

    /// What is wrong with the records so far.
    pub(super) fn problem(&self) -> Option<&str> {
        let mut of_sources =
            self.sources.iter().filter_map(|source| source.comparison().problem.as_deref());
        self.problem.as_deref().or_else(|| of_sources.next())
    }

    pub(super) fn conclude(self, head: Head) -> (u8, String) {
        if let Some(problem) = self.problem() {
            return (exit::FAILED, problem.to_owned());
        }
        if !self.keys.is_empty() && (head.count == 0 || self.signed_until() != head.count) {
            return (exit::FAILED, self.unsigned(head));
        }
        if let Some(hash) = self.head.filter(|_| self.head_at.is_none()) {
            let what = format!(
                "no record has the hash {hash}: the end of the trail was truncated, or its records were rewritten \
                 (it ends with record {})",
                head.count
            );
            return (exit::FAILED, what);
        }
        let is_unused = |source: &&Source| source.comparison().compared == 0;
        if let Some(source) = self.sources.iter().find(is_unused)
            && head.count > 0
        {
            let path = source.lines.path.display();
            let what = match self.without_digest {
                0 => format!("no record says that it comes from {path}{}", others(&self.elsewhere)),
                count => format!(
                    "nothing to compare {path} with: {count} records have no digest of their line"
                ),
            };
            return (exit::FAILED, what);
        }
        (exit::FINE, self.good(head))
    }

    /// The last record that is signed; 0 if none is.
    fn signed_until(&self) -> u64 {
        self.signed.as_ref().map_or(0, |(seq, _)| *seq)
    }

    fn unsigned(&self, head: Head) -> String {
        let (first, last) = (self.signed_until() + 1, head.count);
        match first {
            1 => "it is not signed".to_owned(),
            _ if first == last => format!("record {last} is not signed"),
            _ => format!("records {first} to {last} are not signed"),
        }
    }

    fn good(&self, head: Head) -> String {
        let mut report = format!("good: {}\n", human::number_of(head.count, "record"));
        if let Some(ledger) = &self.ledger {
            report += &format!("ledger: {ledger}\n");
        }
        for gap in &self.gaps {
            report += &format!("missing: {gap}\n");
        }
        if self.gap_count > self.gaps.len() {
            report += &format!("missing: and {} times more\n", self.gap_count - self.gaps.len());
        }
        if let Some((seq, key)) = &self.signed {
            report += &match self.keys.is_empty() {
                true => format!("not checked: {} signatures, give --key\n", self.signatures),
                false => format!("signed: record {seq} and all before it, with {key}\n"),
            };
        }
        for source in &self.sources {
            let path = source.lines.path.display();
            let Comparison { compared, parts, .. } = source.comparison();
            report += &format!("log: {compared} records have their line unchanged in {path}\n");
            if *parts > 0 {
                report +=
                    &format!("log: {parts} of them are of a part of a line, which went on later\n");
            }
        }
        let elsewhere: u64 = self.elsewhere.values().sum();
        let by_name = |source: &Source| match std::ptr::eq(source.comparison(), &source.by_name) {
            true => source.by_name.compared,
            false => 0,
        };
        let by_name: u64 = self.sources.iter().map(by_name).sum();
        let elsewhere = elsewhere + self.alike.saturating_sub(by_name);
        if elsewhere > 0 {
            report += &format!("not compared: {elsewhere} records come from other logs\n");
        }
        if self.without_digest > 0 {
            let count = self.without_digest;
            report += &format!("not compared: {count} records have no digest of their line\n");
        }
        report += &match self.head_at {
            Some(at) if at == head.count => {
                "the head that was given is the last record\n".to_owned()
            }
            Some(at) => {
                let later = head.count - at;
                format!("the head that was given is record {at}; {later} came after it\n")
            }
            None => "whether the end was cut off shows only with --head\n".to_owned(),
        };
        report + &format!("head: {}\n", head.hash)
    }
}

/// The sources that may be this log: if it `is_named`, those with its path, else those with its file name; all of
/// them if the trail does not name it.
fn candidates<'c>(
    sources: &'c mut [Source],
    log: Option<&str>,
    is_named: bool,
) -> Vec<(&'c mut SourceLines, &'c mut Comparison)> {
    let candidates = sources.iter_mut().filter(|source| match is_named {
        true => source.is_named(log),
        false => source.is_alike(log),
    });
    let comparison = |Source { lines, by_path, by_name }: &'c mut Source| match is_named {
        true => (lines, by_path),
        false => (lines, by_name),
    };
    candidates.map(comparison).collect()
}

fn differs(seq: u64, line: u64, source: &SourceLines) -> String {
    let path = source.path.display();
    match source.digest(line) {
        Some(_) => format!(
            "record {seq} was made from line {line} of {path}, which was changed since, or is another line now"
        ),
        None => format!(
            "record {seq} was made from line {line} of {path}, which has only {} lines now",
            source.count
        ),
    }
}

fn others(elsewhere: &BTreeMap<Option<String>, u64>) -> String {
    let names: Vec<_> = elsewhere.keys().flatten().map(String::as_str).collect();
    if names.is_empty() { String::new() } else { format!(": they come from {}", names.join(", ")) }
}
