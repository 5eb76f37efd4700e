//! [`Model`]: the expected content of a ledger, in the simplest form.

use std::collections::BTreeMap;

use foldline::ledger::{Checkpoint, Commit, Extent, Identity, Mark, SourceFacts, SourceName};
use foldline_domain::{Digest, Json, Position, Timestamp};

use super::operation::{Expectation, Operation, Segment, Stale};

/// The expected content of a ledger.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) sources: BTreeMap<SourceName, Checkpoint>,
    /// The items of all outputs, by source.
    pub(super) items: BTreeMap<SourceName, Vec<String>>,
    pub(super) marks: BTreeMap<String, Json>,
    /// The number of segments and marks created, which makes all states and items distinct.
    made: u64,
}

/// A commit and its expected outcome.
pub(super) struct Planned {
    pub(super) commits: Vec<Commit<Vec<String>>>,
    pub(super) marks: Vec<Mark>,
    pub(super) outcome: Outcome,
}

/// The expected outcome of a commit.
pub(super) enum Outcome {
    /// The ledger then contains this.
    Committed(Model),
    /// The commit is refused: the segment of this source is stale, and this is the stored position.
    Refused(SourceName, Option<Position>),
}

/// The names of sources and marks, including names with odd characters and a name that is a prefix of another.
const NAMES: [&str; 3] = ["a", "a/b c.jsonl", "'é\"%\n"];

/// The name of a source.
pub(super) fn source(number: u8) -> SourceName {
    SourceName::from(NAMES[usize::from(number) % NAMES.len()])
}

/// All names that sources and marks may have.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter()
}

impl Model {
    /// Plans a commit and its outcome.
    pub(super) fn plan(
        &mut self,
        segments: &[Segment],
        marks: &[u8],
        stale: Option<Stale>,
    ) -> Planned {
        let mut next = self.clone();
        let mut refused = None;
        let mut commits = Vec::new();
        for (index, segment) in segments.iter().enumerate() {
            let name = source(segment.source);
            let committed = next.sources.get(&name).map(|stored| stored.position);
            let mut commit = next.segment(&name, committed, *segment);
            let is_stale = |stale: &Stale| usize::from(stale.segment) % segments.len() == index;
            if let Some(Stale { expects, .. }) = stale.filter(is_stale) {
                commit.expected = other_than(committed, expects);
                refused = Some((name.clone(), committed));
            }
            next.sources.insert(name.clone(), commit.checkpoint.clone());
            next.items.entry(name).or_default().extend(commit.output.iter().cloned());
            commits.push(commit);
        }
        let marks = marks.iter().map(|mark| next.mark(*mark)).collect();
        self.made = next.made;
        let outcome = match refused {
            Some((source, committed)) => Outcome::Refused(source, committed),
            None => Outcome::Committed(next),
        };
        Planned { commits, marks, outcome }
    }

    fn segment(
        &mut self,
        name: &SourceName,
        committed: Option<Position>,
        segment: Segment,
    ) -> Commit<Vec<String>> {
        let Segment { items, lines, complete, .. } = segment;
        let lines = u64::from(lines);
        let begin = committed.unwrap_or_default();
        let position = Position { line: begin.line + lines, offset: begin.offset + 10 * lines };
        let output = (0..items).map(|_| format!("item {}", self.next())).collect();
        let state = self.state();
        let facts = SourceFacts {
            path: format!("/somewhere/{name}"),
            format: "made up".to_owned(),
            task: None,
            identity: Identity {
                device: Some(u64::MAX),
                inode: Some(self.made),
                size: position.offset,
                modified: Some(Timestamp::from_millis(1_700_000_000_123)),
                read: Extent {
                    length: position.offset,
                    edges: Digest::of(&self.made.to_le_bytes()),
                },
                changed: Some(1_700_000_000_123_456_789),
                content: Some(Digest::of(&self.made.to_be_bytes())),
                first_line: Some(Digest::of(b"the first line")),
            },
        };
        let checkpoint = Checkpoint { facts, position, state, complete };
        Commit { source: name.clone(), expected: committed, checkpoint, output }
    }

    fn mark(&mut self, number: u8) -> Mark {
        let name = NAMES[usize::from(number) % NAMES.len()].to_owned();
        let state = self.state();
        self.marks.insert(name.clone(), state.clone());
        Mark { name, state }
    }

    /// A unique state, with characters that are difficult for engines.
    fn state(&mut self) -> Json {
        Json::from(&serde_json::json!({ "n": self.next(), "text": "'\"\\\n\0é\u{2028}🦀" }))
    }

    fn next(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    /// Forgets the source, and its items unless they are kept; returns whether it existed.
    pub(super) fn forget(&mut self, name: &SourceName, keeps_outputs: bool) -> bool {
        if !keeps_outputs {
            self.items.remove(name);
        }
        self.sources.remove(name).is_some()
    }
}

fn other_than(committed: Option<Position>, expects: Expectation) -> Option<Position> {
    let Some(Position { line, offset }) = committed else {
        return Some(Position { line: 1, offset: 0 });
    };
    match expects {
        Expectation::Beginning => None,
        // A source at byte 0 has no earlier position.
        Expectation::Behind if offset == 0 => None,
        Expectation::Behind => Some(Position { line, offset: offset - 1 }),
        Expectation::Ahead => Some(Position { line: line + 1, offset: offset + 10 }),
        Expectation::OtherLine => Some(Position { line: line + 1, offset }),
    }
}

impl Operation {
    /// A human-readable sentence.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Commit { segments, marks, stale } => format!(
                "a commit of {} segments and {} marks{}",
                segments.len(),
                marks.len(),
                if stale.is_some() { ", one of them stale" } else { "" }
            ),
            Self::Forget(number) => format!("forgetting {:?}", source(*number).as_str()),
        }
    }
}
