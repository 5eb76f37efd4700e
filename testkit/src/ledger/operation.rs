//! [`Operation`]: an operation on a ledger; random sequences and fixed scenarios.

use proptest::{collection::vec, option, prelude::*, sample::select};

/// The number of sources and marks in [`operations`].
const NAMES: u8 = 3;

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
    let segment = (0..NAMES, 0..4u8, 0..3u8, proptest::bool::weighted(0.1))
        .prop_map(|(source, items, lines, complete)| Segment { source, items, lines, complete });
    let expects = select(vec![
        Expectation::Beginning,
        Expectation::Behind,
        Expectation::Ahead,
        Expectation::OtherLine,
    ]);
    let stale = (any::<u8>(), expects).prop_map(|(segment, expects)| Stale { segment, expects });
    let commit = (vec(segment, 0..4), vec(0..NAMES, 0..3), option::weighted(0.3, stale))
        .prop_map(|(segments, marks, stale)| Operation::Commit { segments, marks, stale });
    let operation = prop_oneof![6 => commit, 1 => (0..NAMES).prop_map(Operation::Forget)];
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
