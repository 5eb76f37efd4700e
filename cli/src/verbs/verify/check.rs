//! [`Check`]: the checks of the records of a trail in addition to their chain.

use std::{collections::BTreeMap, path::Path};

use foldline_domain::{
    Digest,
    audit::{About, Head, PublicKey, Signature, Verified},
};
use foldline_render::human;

use super::{
    comparison::{Comparison, Fit},
    source::SourceLines,
};
use crate::exit;

/// The number of gaps that are named.
const NAMED: usize = 10;

/// The sources with which the valid records are compared.
pub(super) struct Check<'s> {
    sources: Vec<Source>,
    /// The keys that it may be signed with, in the order of their ranges.
    keys: &'s [PublicKey],
    /// The key among them of the last signature.
    key: Option<usize>,
    /// The last signed record, and the key that the signature names.
    signed: Option<(u64, String)>,
    /// The number of records by log.
    logs: BTreeMap<Option<String>, u64>,
    /// The number of records with the digest of their line.
    digests: u64,
    without_digest: u64,
    head: Option<Digest>,
    /// The record whose hash is the given head.
    head_at: Option<u64>,
    /// A problem of a signature.
    problem: Option<String>,
    /// The ledger that the trail belongs to.
    ledger: Option<String>,
    /// The positions of the first gaps that the trail states.
    gaps: Vec<String>,
    gap_count: usize,
}

/// A log that was given, and the records of each log of the trail compared with it. A log is identified by content: a
/// path names another log after a rotation.
struct Source {
    lines: SourceLines,
    logs: BTreeMap<Option<String>, Comparison>,
}

impl Source {
    /// Whether it has the path that the trail names. The second log of one path is named with `#2` at the end.
    fn is_named(&self, log: Option<&str>) -> bool {
        let is_path =
            |log: &str| self.lines.path == Path::new(log) || self.lines.absolute == Path::new(log);
        let numbered = |log: &str| {
            let (path, number) = log.rsplit_once('#')?;
            number.parse::<u64>().is_ok().then(|| is_path(path))
        };
        log.is_some_and(|log| is_path(log) || numbered(log) == Some(true))
    }

    /// The log of the trail that matches this file: the log with the most matching records, among the logs with
    /// its path, or else among all logs.
    fn log(&self) -> Option<Log<'_>> {
        let named = best(self.logs.iter().filter(|(log, _)| self.is_named(log.as_deref())));
        let begun = best(self.logs.iter().filter(|(_, comparison)| comparison.compared > 0));
        match named {
            // Another file may have been moved to this path.
            Some((_, named)) if named.compared == 0 => {
                begun.filter(|(_, begun)| begun.problem.is_none())
            }
            _ => None,
        }
        .or(named)
        .or(begun)
    }

    fn comparison(&self) -> Option<&Comparison> {
        self.log().map(|(_, comparison)| comparison)
    }

    /// The problem of the log.
    fn problem(&self) -> Option<String> {
        let (log, comparison) = self.log()?;
        let problem = comparison.problem.as_deref()?;
        let path = self.lines.path.display();
        Some(match log {
            Some(log) if !self.is_named(Some(log)) => {
                format!("no record names {path}; it begins as {log} does, but {problem}")
            }
            _ => problem.to_owned(),
        })
    }

    /// The lines that cause an event, and have no record.
    fn uncovered(&self) -> Option<String> {
        let (events, none) = (self.lines.events.as_ref()?, Comparison::default());
        let comparison = self.comparison().unwrap_or(&none);
        let path = self.lines.path.display();
        if let Some(lines) = events.named_without(&comparison.lines) {
            let have = if lines.starts_with("lines") { "have" } else { "has" };
            return Some(format!("{lines} of {path} {have} no record"));
        }
        let line = comparison.line_without_end().filter(|line| events.contains(*line))?;
        Some(format!("the end of line {line} of {path} has no record"))
    }

    fn compared(&self) -> u64 {
        self.comparison().map_or(0, |comparison| comparison.compared)
    }
}

/// The comparison with the most matching records; of two equal ones, the one with a problem.
fn best<'c>(logs: impl Iterator<Item = Log<'c>>) -> Option<Log<'c>> {
    logs.max_by_key(|(_, comparison)| (comparison.compared, comparison.problem.is_some()))
}

/// A log of the trail, by its name, compared with a file.
type Log<'c> = (&'c Option<String>, &'c Comparison);

impl<'s> Check<'s> {
    pub(super) fn new(
        sources: Vec<SourceLines>,
        keys: &'s [PublicKey],
        head: Option<Digest>,
    ) -> Self {
        let sources = sources.into_iter().map(|lines| Source { lines, logs: BTreeMap::new() });
        let sources = sources.collect();
        Self {
            sources,
            keys,
            key: None,
            signed: None,
            logs: BTreeMap::new(),
            digests: 0,
            without_digest: 0,
            head,
            head_at: None,
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
                    let commits = human::number_of(*commits, "commit");
                    self.gap(format!("{commits} made before the trail was begun"));
                }
            }
            About::Gap { after, commits } => {
                let (seq, missed) = (record.seq, commits.saturating_sub(*after));
                let missed = human::number_of(missed, "commit");
                self.gap(format!("{missed} made without it before record {seq}"));
            }
            About::Signature(signature) => self.signature(record.seq, signature),
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
        // The signature itself was verified with the chain.
        let is_its = |own: &PublicKey| own.to_string() == key;
        match self.keys.iter().rposition(is_its) {
            _ if self.keys.is_empty() || self.problem.is_some() => {}
            None => self.problem = Some(format!("record {seq} is signed with another key: {key}")),
            Some(at) if self.key.is_some_and(|last| at < last) => {
                self.problem = Some(format!(
                    "record {seq} is signed with a key that a later one has succeeded: {key} (give --key in the order \
                     in which the keys signed)"
                ));
            }
            at => self.key = at,
        }
        self.signed = Some((seq, key));
    }

    fn event(&mut self, seq: u64, log: Option<&str>, line: u64, line_sha256: Option<Digest>) {
        if self.sources.is_empty() {
            return;
        }
        let Some(digest) = line_sha256 else {
            self.without_digest += 1;
            let named = self.sources.iter_mut().filter(|source| source.is_named(log));
            for Source { logs, .. } in named.filter(|source| line <= source.lines.count) {
                logs.entry(log.map(str::to_owned)).or_default().lines.insert(line);
            }
            return;
        };
        self.digests += 1;
        let log = log.map(str::to_owned);
        *self.logs.entry(log.clone()).or_default() += 1;
        for source in &mut self.sources {
            let is_named = source.is_named(log.as_deref());
            let Source { lines, logs } = source;
            let comparison = logs.entry(log.clone()).or_default();
            if comparison.problem.is_some() {
                continue;
            }
            if lines.is_rewritten {
                let found = comparison.find(lines, digest);
                comparison.problem = found.err().map(|error| error.to_string());
                continue;
            }
            // The search for a part of a line is slow, and most logs of a trail do not match.
            let may_be_part = is_named || comparison.compared > 0;
            comparison.problem = match comparison.fits(lines, line, digest, may_be_part) {
                Ok(Fit::Fits) => None,
                Ok(Fit::Differs) => Some(differs(seq, line, lines)),
                Ok(Fit::Grown(line)) => {
                    let path = lines.path.display();
                    Some(format!(
                        "something was added to line {line} of {path}, before record {seq} was made"
                    ))
                }
                Err(error) => Some(error.to_string()),
            };
        }
    }

    /// The problems of the records so far.
    pub(super) fn problem(&self) -> Option<String> {
        self.problem.clone().or_else(|| self.sources.iter().find_map(Source::problem))
    }

    pub(super) fn conclude(self, head: Head) -> (u8, String) {
        if let Some(problem) = self.problem() {
            return (exit::FAILED, problem);
        }
        if !self.keys.is_empty() && (head.count == 0 || self.signed_until() != head.count) {
            return (exit::FAILED, self.unsigned(head));
        }
        if let (Some(last), true) = (self.keys.last(), self.key.is_some())
            && self.key != self.keys.len().checked_sub(1)
        {
            let what = format!(
                "the last signature, in record {}, is not of the last key that is given: {last}",
                self.signed_until()
            );
            return (exit::FAILED, what);
        }
        if let Some(hash) = self.head.filter(|_| self.head_at.is_none()) {
            let what = format!(
                "no record has the hash {hash}: the end of the trail was truncated, or its records were rewritten \
                 (it ends with record {})",
                head.count
            );
            return (exit::FAILED, what);
        }
        let is_unused = |source: &&Source| source.compared() == 0;
        if let Some(source) = self.sources.iter().find(is_unused)
            && head.count > 0
        {
            let path = source.lines.path.display();
            let what = match self.without_digest {
                0 => format!("no record names {path}{}", others(&self.logs)),
                count => format!(
                    "nothing to compare with {path}: {} without a digest of the line",
                    human::number_of(count, "record")
                ),
            };
            return (exit::FAILED, what);
        }
        let uncovered: Vec<_> = self.sources.iter().filter_map(Source::uncovered).collect();
        if !uncovered.is_empty() {
            return (exit::FAILED, uncovered.join("; "));
        }
        (exit::SUCCESS, self.good(head))
    }

    /// The last signed record; 0 if there is none.
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
            let more = human::number_of(self.gap_count - self.gaps.len(), "further gap");
            report += &format!("missing: {more}\n");
        }
        if let Some((seq, key)) = &self.signed {
            report += &match self.keys.is_empty() {
                true => format!(
                    "signed: record {seq} and all before it, by an unknown key, {key}; give --key\n"
                ),
                false => format!("signed: record {seq} and all before it, with {key}\n"),
            };
        }
        for source in &self.sources {
            let path = source.lines.path.display();
            let Some(comparison) = source.comparison() else { continue };
            let Comparison { compared, parts, earlier, .. } = comparison;
            let unchanged = human::number_of(*compared, "record");
            report += &format!("log: {unchanged} with an unchanged line in {path}\n");
            if *earlier > 0 {
                let earlier = human::number_of(*earlier, "record");
                report +=
                    &format!("log: {earlier} of earlier states of {path}, which was rewritten\n");
            }
            if *parts > 0 {
                report +=
                    &format!("log: {parts} of them cover a part of a line, which grew later\n");
            }
        }
        for SourceLines { path, count, events, .. } in
            self.sources.iter().map(|source| &source.lines)
        {
            let (path, of) = (path.display(), human::number_of(*count, "line"));
            report += &match events {
                Some(events) => format!(
                    "coverage: {} of {of} of {path} cause events, and all of them have a record\n",
                    events.count()
                ),
                None => format!(
                    "coverage: not checked, as the format of {path} is unknown, give --executor\n"
                ),
            };
        }
        let comparisons = self.sources.iter().filter_map(Source::comparison);
        let compared: u64 = comparisons.map(|found| found.compared + found.earlier).sum();
        let elsewhere = self.digests.saturating_sub(compared);
        if elsewhere > 0 {
            let elsewhere = human::number_of(elsewhere, "record");
            report += &format!("not compared: {elsewhere} of other logs\n");
        }
        if self.without_digest > 0 {
            let count = human::number_of(self.without_digest, "record");
            report += &format!("not compared: {count} without a digest of the line\n");
        }
        report += &match self.head_at {
            Some(at) if at == head.count => "the given head is the last record\n".to_owned(),
            Some(at) => {
                let later = human::number_of(head.count - at, "later record");
                format!("the given head is record {at}, with {later}\n")
            }
            None => "without --head, a truncated end is not detected\n".to_owned(),
        };
        report + &format!("head: {}\n", head.hash)
    }
}

fn differs(seq: u64, line: u64, source: &mut SourceLines) -> String {
    let is_missing = matches!(source.digest(line), Ok(None));
    let path = source.path.display();
    match is_missing {
        false => format!(
            "record {seq} was made from line {line} of {path}, which was changed since, or is another line now"
        ),
        true => format!(
            "record {seq} was made from line {line} of {path}, which has only {} now",
            human::number_of(source.count, "line")
        ),
    }
}

fn others(elsewhere: &BTreeMap<Option<String>, u64>) -> String {
    let names: Vec<_> = elsewhere.keys().flatten().map(String::as_str).collect();
    if names.is_empty() {
        String::new()
    } else {
        format!("; the records name {}", names.join(", "))
    }
}
