//! [`Operation`]: an operation on a ledger, random sequences and fixed scenarios; [`Model`]: the expected content of a
//! ledger, in the simplest form.

use std::collections::BTreeMap;

use foldline::ledger::{Checkpoint, Commit, Extent, Identity, Mark, SourceFacts, SourceName};
use foldline_domain::{Digest, Json, Position, Timestamp};
use proptest::{collection::vec, option, prelude::*, sample::select};

/// The names of sources and marks, including names with odd characters and a name that is a prefix of another.
const NAMES: [&str; 3] = ["a", "a/b c.jsonl", "'é\"%\n"];

/// Their number.
const COUNT: u8 = NAMES.len() as u8;

/// One operation on a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Commits segments and marks atomically.
    Commit {
        /// The segments, in order. Segments of one source are consecutive.
        segments: Vec<Segment>,
        /// The numbers of the marks that are set.
        marks: Vec<u8>,
        /// The error of the commit, if it is to be refused.
        stale: Option<Stale>,
    },
    /// Forgets the source with this number.
    Forget(u8),
}

/// A segment of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The number of the source.
    pub source: u8,
    /// The number of items. A segment without items may still move the position.
    pub items: u8,
    /// The number of lines by which the position moves.
    pub lines: u8,
    /// The segment completes the source.
    pub complete: bool,
}

/// A segment of a commit that does not begin at the stored position of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The index of the segment, modulo their number.
    pub segment: u8,
    /// Its beginning instead.
    pub expects: Expectation,
}

/// The beginning of a stale segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// At the beginning, as if nothing of the source were committed; if that is true, at line 1.
    Beginning,
    /// Before the stored position.
    Behind,
    /// After the stored position.
    Ahead,
    /// At the stored offset, but in another line.
    OtherLine,
}

/// Any sequence of operations on a few sources.
pub fn operations() -> BoxedStrategy<Vec<Operation>> {
    let segment = (0..COUNT, 0..4u8, 0..3u8, proptest::bool::weighted(0.1))
        .prop_map(|(source, items, lines, complete)| Segment { source, items, lines, complete });
    let expects = select(vec![
        Expectation::Beginning,
        Expectation::Behind,
        Expectation::Ahead,
        Expectation::OtherLine,
    ]);
    let stale = (any::<u8>(), expects).prop_map(|(segment, expects)| Stale { segment, expects });
    let commit = (vec(segment, 0..4), vec(0..COUNT, 0..3), option::weighted(0.3, stale))
        .prop_map(|(segments, marks, stale)| Operation::Commit { segments, marks, stale });
    let operation = prop_oneof![6 => commit, 1 => (0..COUNT).prop_map(Operation::Forget)];
    vec(operation, 0..16).boxed()
}

/// The fixed scenarios, one per rule.
pub(super) fn scenarios() -> Vec<Vec<Operation>> {
    let segment = |source, items| Segment { source, items, lines: items.max(1), complete: false };
    let commit = |segments: &[Segment], marks: &[u8]| Operation::Commit {
        segments: segments.to_vec(),
        marks: marks.to_vec(),
        stale: None,
    };
    let stale = |segments: &[Segment], marks: &[u8], segment, expects| Operation::Commit {
        segments: segments.to_vec(),
        marks: marks.to_vec(),
        stale: Some(Stale { segment, expects }),
    };
    let refusals = |segments: &[Segment], which| {
        [Expectation::Beginning, Expectation::Behind, Expectation::Ahead, Expectation::OtherLine]
            .map(|expects| stale(segments, &[0], which, expects))
    };
    let (a, b) = (segment(0, 2), segment(1, 3));
    let nothing = Segment { items: 0, lines: 0, ..a };
    let complete = Segment { complete: true, ..nothing };
    vec![
        // One source in steps: a step without items, a step without lines, the last step.
        vec![
            commit(&[a], &[]),
            commit(&[a], &[]),
            commit(&[segment(0, 0)], &[]),
            commit(&[Segment { items: 1, ..nothing }], &[]),
            commit(&[nothing], &[]),
            commit(&[a, complete], &[]),
        ],
        // Several sources in one commit; several commits of one source in one commit.
        vec![
            commit(&[a, b], &[]),
            commit(&[b, b, a, b], &[]),
            commit(&[b], &[]),
            commit(&[a], &[]),
        ],
        // A commit with a wrong beginning is refused entirely.
        [vec![commit(&[a], &[0])], refusals(&[a], 0).to_vec(), vec![commit(&[a], &[0])]].concat(),
        [vec![commit(&[a, b], &[0])], refusals(&[b, a, b], 1).to_vec(), vec![commit(&[b], &[])]]
            .concat(),
        [vec![commit(&[a], &[])], refusals(&[b, b, b], 2).to_vec(), vec![commit(&[a, b], &[])]]
            .concat(),
        vec![stale(&[a], &[1], 0, Expectation::Beginning), commit(&[a], &[])],
        // Marks, with outputs and alone; an empty commit.
        vec![commit(&[], &[0]), commit(&[a], &[0, 1]), commit(&[], &[1, 2]), commit(&[], &[])],
        // Sources that are forgotten, unknown, and read again from the beginning.
        vec![
            Operation::Forget(0),
            commit(&[a], &[0]),
            Operation::Forget(0),
            Operation::Forget(0),
            commit(&[a, a], &[1]),
        ],
        vec![commit(&[a, b], &[0]), Operation::Forget(2), Operation::Forget(0), commit(&[b], &[])],
    ]
}

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
            host: self.made.is_multiple_of(2).then(|| format!("machine {}", self.made)),
            user: self.made.is_multiple_of(3).then(|| format!("user {}", self.made)),
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
