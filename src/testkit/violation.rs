//! [`Violation`]: which law does not hold, where, and by what one sees it.

use std::fmt;

/// The laws that every reducer and emitter of this crate keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Law {
    /// The same inputs give the same events and state.
    Determinism,
    /// Stop anywhere, store the state, restore it, go on: the same events and state.
    SplitInvariance,
    /// Bytes cut anywhere give the same events.
    ChunkInvariance,
    /// What is opened is ended exactly once, and is not touched before or after.
    Balance,
    /// Results in another order give the same tool calls in the end.
    OrderOfResults,
    /// No input panics, and none is dropped without a trace.
    Totality,
    /// The patches add up to the document that the events add up to.
    CommutingDiagram,
    /// An emitter's output is the same alone and beside others.
    Independence,
    /// Entries get the indices 0, 1, 2, ..., and only existing ones are replaced.
    DenseIndices,
}

impl Law {
    /// Every law, by number.
    pub const ALL: [Self; 9] = [
        Self::Determinism,
        Self::SplitInvariance,
        Self::ChunkInvariance,
        Self::Balance,
        Self::OrderOfResults,
        Self::Totality,
        Self::CommutingDiagram,
        Self::Independence,
        Self::DenseIndices,
    ];

    /// Its number, 1 to 9.
    pub fn number(self) -> usize {
        self as usize + 1
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Determinism => "determinism",
            Self::SplitInvariance => "split invariance",
            Self::ChunkInvariance => "chunk invariance",
            Self::Balance => "balance",
            Self::OrderOfResults => "irrelevance of the order of results",
            Self::Totality => "totality",
            Self::CommutingDiagram => "commuting diagram",
            Self::Independence => "independence of sinks",
            Self::DenseIndices => "dense indices",
        }
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "law {} ({})", self.number(), self.name())
    }
}

/// Where a law was seen not to hold. Inputs and events are counted from 0, lines from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// Before the first input.
    Start,
    /// At an input of the reducer.
    Input(usize),
    /// At an event.
    Event(usize),
    /// At a line of the log.
    Line(u64),
    /// At completion, after the last input or event.
    Completion,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => f.write_str("before the first input"),
            Self::Input(index) => write!(f, "at input {index}"),
            Self::Event(index) => write!(f, "at event {index}"),
            Self::Line(line) => write!(f, "at line {line}"),
            Self::Completion => f.write_str("at completion"),
        }
    }
}

/// One of two things that should be equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// How it came about.
    pub name: &'static str,
    /// What it is, for people; cut where it is very long.
    pub value: String,
}

impl Side {
    fn new(name: &'static str, value: &dyn fmt::Debug) -> Self {
        const LONGEST: usize = 4_000;
        let mut value = format!("{value:?}");
        if value.len() > LONGEST {
            let end = (0..=LONGEST).rev().find(|end| value.is_char_boundary(*end)).unwrap_or(0);
            value.truncate(end);
            value.push_str(" ..");
        }
        Self { name, value }
    }
}

/// A law that does not hold: the first place where one sees it, and both sides of what differs there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The law.
    pub law: Law,
    /// Where.
    pub place: Place,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What differs, if it is a difference.
    pub sides: Vec<Side>,
}

impl Violation {
    /// A law that does not hold, with one sentence.
    pub fn new(law: Law, place: Place, message: impl Into<String>) -> Self {
        Self { law, place, message: message.into(), sides: Vec::new() }
    }

    /// The same violation with one side of what differs.
    #[must_use]
    pub fn side(mut self, name: &'static str, value: &dyn fmt::Debug) -> Self {
        self.sides.push(Side::new(name, value));
        self
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { law, place, message, sides } = self;
        write!(f, "{law} does not hold, {place}: {message}")?;
        let width = sides.iter().map(|side| side.name.len()).max().unwrap_or(0);
        for Side { name, value } in sides {
            write!(f, "\n  {name:width$}  {value}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Violation {}
