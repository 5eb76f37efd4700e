//! [`ContentDedup`]: files and sources that begin with the same line, compared by their whole content.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use foldline::{ledger::SourceName, source::Openers};
use foldline_database::sqlite::{Copy, Known};
use foldline_domain::Digest;

use super::found::Found;
use crate::error::Error;

/// The classification of a file.
pub(super) enum Decision {
    /// Its content is the beginning of another file, or of a source.
    Copy {
        /// The other file, which is classified first.
        original: PathBuf,
        /// Its content, unless that is known already.
        content: Option<Digest>,
        /// The source, if the other file is not among the compared files.
        of: Option<SourceName>,
    },
    /// It begins with the committed part of a source.
    Continues(Box<Known>),
    /// None of these.
    New,
    /// It cannot be read.
    Failed(Error),
}

/// The digests of the beginnings of a file.
type Contents = BTreeMap<u64, Digest>;

/// Files and sources to be compared.
pub(super) struct ContentDedup<'c> {
    files: Vec<Found>,
    sources: Vec<Known>,
    /// What is known to be the beginning of one of the sources.
    copies: Vec<Copy>,
    /// Sources that have their file already.
    claimed: &'c BTreeSet<SourceName>,
    openers: &'c Openers,
}

/// A file that was decided on, which others may be the beginning of.
struct Decided {
    contents: Contents,
    original: PathBuf,
    of: Option<SourceName>,
}

/// A source, and a file elsewhere that still holds what is committed of it.
struct Elsewhere {
    source: usize,
    contents: Contents,
}

impl<'c> ContentDedup<'c> {
    pub(super) fn new(
        files: Vec<Found>,
        sources: Vec<Known>,
        copies: Vec<Copy>,
        claimed: &'c BTreeSet<SourceName>,
        openers: &'c Openers,
    ) -> Self {
        Self { files, sources, copies, claimed, openers }
    }

    /// Classifies each file.
    pub(super) fn decide(mut self) -> Vec<(Found, Decision)> {
        let mut decisions = Vec::new();
        // The longest first, since a shorter file may be its prefix; of equal files, the known one first.
        let rank = |found: &Found, sources: &[Known]| {
            let is_known =
                |known: &&Known| found.status.is_same_file(&known.checkpoint.facts.identity);
            let is_there = |known: &&Known| is_at(known, &found.path);
            (
                sources.iter().any(|known| is_known(&known)),
                sources.iter().any(|known| is_there(&known)),
            )
        };
        let sources = &self.sources;
        self.files.sort_by_cached_key(|found| {
            (Reverse(found.status.size), Reverse(rank(found, sources)), found.path.clone())
        });
        let contents: Vec<_> = (0..self.files.len()).map(|index| self.contents(index)).collect();
        let mut files = Vec::new();
        for (found, contents) in std::mem::take(&mut self.files).into_iter().zip(contents) {
            match contents {
                Ok(contents) => files.push((found, contents)),
                Err(error) => decisions.push((found, Decision::Failed(error.into()))),
            }
        }
        let elsewhere = self.elsewhere(&files);
        let (mut decided, mut kept, mut copies) = (Vec::new(), Vec::new(), Vec::new());
        for (found, contents) in files {
            match self.copy(&found, &contents, &decided, &elsewhere) {
                Some((original, of)) => {
                    let content = contents.get(&found.status.size).copied();
                    let content = content.filter(|_| found.copy_of.is_none());
                    let (path, source) = (original.clone(), of.clone());
                    decided.push(Decided { contents, original, of });
                    copies.push((found, Decision::Copy { original: path, content, of: source }));
                }
                None => {
                    let (original, contents_too) = (found.path.clone(), contents.clone());
                    decided.push(Decided { contents, original, of: None });
                    kept.push((found, contents_too));
                }
            }
        }
        let sources = self.assign(&kept);
        for ((found, _), known) in kept.into_iter().zip(sources) {
            let decision =
                known.map_or(Decision::New, |known| Decision::Continues(Box::new(known)));
            decisions.push((found, decision));
        }
        decisions.extend(copies);
        decisions
    }

    /// The digests of a file that the comparisons need.
    fn contents(&self, index: usize) -> Result<Contents, foldline::source::SourceError> {
        let Some(found) = self.files.get(index) else { return Ok(Contents::new()) };
        let size = found.status.size;
        let (mut lengths, mut contents) = (Vec::new(), Contents::new());
        let sources = if found.copy_of.is_some() { &[] } else { self.sources.as_slice() };
        for known in sources {
            let identity = &known.checkpoint.facts.identity;
            let length = length_of(known);
            match identity.content {
                Some(content) if found.status.is_untouched_since(identity) => {
                    contents.insert(length, content);
                }
                _ if length <= size => lengths.push(length),
                _ => lengths.push(size),
            }
        }
        // Of two that are untouched, an earlier run has compared the contents.
        let is_settled = self.is_settled(found);
        for (other, file) in self.files.iter().enumerate() {
            if other != index && !(is_settled && self.is_settled(file)) {
                lengths.push(file.status.size.min(size));
            }
        }
        if !is_settled {
            let copies = self.copies.iter().map(|copy| copy.file.size);
            lengths.extend(copies.filter(|copy| *copy == size));
        }
        lengths.retain(|length| !contents.contains_key(length));
        contents.extend(found.contents(lengths)?);
        Ok(contents)
    }

    /// Whether an earlier run has decided on the file, which is untouched since.
    fn is_settled(&self, found: &Found) -> bool {
        let is_untouched = |known: &Known| {
            found.status.is_untouched_since(&known.checkpoint.facts.identity)
                && is_at(known, &found.path)
        };
        found.copy_of.is_some() || self.sources.iter().any(is_untouched)
    }

    /// The sources whose content is in a file that is not compared.
    fn elsewhere(&self, files: &[(Found, Contents)]) -> Vec<Elsewhere> {
        let mut elsewhere = Vec::new();
        for (source, known) in self.sources.iter().enumerate() {
            let is_here = files.iter().any(|(found, _)| is_at(known, &found.path));
            let length = length_of(known);
            let shorter = files.iter().filter(|(found, _)| is_alike(known, found));
            let shorter = shorter.filter(|(found, _)| !self.is_settled(found));
            let shorter = shorter.map(|(found, _)| found.status.size);
            // The last line of the file need not have been read, as it may be incomplete.
            let size = known.checkpoint.facts.identity.size.max(length);
            let lengths: Vec<u64> = shorter.filter(|shorter| *shorter <= size).collect();
            if is_here || lengths.is_empty() {
                continue;
            }
            // An unreadable file contains no source.
            let path = Path::new(&known.checkpoint.facts.path);
            let Ok(found) = Found::look(path, self.openers) else { continue };
            // A link leads from its path to one of these files.
            if files
                .iter()
                .any(|(here, _)| here.number().is_some() && here.number() == found.number())
            {
                continue;
            }
            let Ok(contents) = found.contents(lengths.into_iter().chain([length])) else {
                continue;
            };
            if begins_with(&contents, known) {
                elsewhere.push(Elsewhere { source, contents });
            }
        }
        elsewhere
    }

    /// The original of a copy, and the source, if the original is not among the compared files.
    fn copy(
        &self,
        found: &Found,
        contents: &Contents,
        decided: &[Decided],
        elsewhere: &[Elsewhere],
    ) -> Option<(PathBuf, Option<SourceName>)> {
        if let Some(known) = &found.copy_of {
            return Some(stored(known));
        }
        let size = found.status.size;
        let content = *contents.get(&size)?;
        let holds = |others: &Contents| others.get(&size) == Some(&content);
        if let Some(Decided { original, of, .. }) =
            decided.iter().find(|other| holds(&other.contents))
        {
            return Some((original.clone(), of.clone()));
        }
        if let Some(other) = elsewhere.iter().find(|other| holds(&other.contents)) {
            return self.sources.get(other.source).map(stored);
        }
        let copy = self.copies.iter().find(|copy| copy.content == content)?;
        self.sources.iter().find(|known| known.name == copy.source).map(stored)
    }

    /// The source of each file: the file that it was read from before has the first claim, then the one at its
    /// path, then any other that begins with it.
    fn assign(&self, files: &[(Found, Contents)]) -> Vec<Option<Known>> {
        let mut assigned: Vec<Option<Known>> = files.iter().map(|_| None).collect();
        let mut claimed = BTreeSet::new();
        let mut sources: Vec<&Known> = self.sources.iter().collect();
        sources.sort_by_key(|known| Reverse(length_of(known)));
        let claims: [fn(&Found, &Known) -> bool; 3] = [
            |found, known| found.status.is_same_file(&known.checkpoint.facts.identity),
            |found, known| is_at(known, &found.path),
            |found, known| is_alike(known, found),
        ];
        for claim in claims {
            for ((found, contents), place) in files.iter().zip(&mut assigned) {
                if place.is_some() {
                    continue;
                }
                let source = sources.iter().find(|known| {
                    claim(found, known)
                        && !self.claimed.contains(&known.name)
                        && !claimed.contains(&known.name)
                        && begins_with(contents, known)
                });
                if let Some(known) = source {
                    claimed.insert(known.name.clone());
                    *place = Some((*known).clone());
                }
            }
        }
        assigned
    }
}

fn stored(known: &Known) -> (PathBuf, Option<SourceName>) {
    (known.checkpoint.facts.path.clone().into(), Some(known.name.clone()))
}

fn is_alike(known: &Known, found: &Found) -> bool {
    known.checkpoint.facts.identity.first_line == Some(found.first_line)
}

fn begins_with(contents: &Contents, known: &Known) -> bool {
    let content = known.checkpoint.facts.identity.content;
    content.is_some() && contents.get(&length_of(known)).copied() == content
}

fn is_at(known: &Known, path: &Path) -> bool {
    known.checkpoint.facts.path == path.to_string_lossy()
}

fn length_of(known: &Known) -> u64 {
    known.checkpoint.facts.identity.read.length
}
