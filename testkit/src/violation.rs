//! [`Violation`]: a violated law, its position, and the evidence.

use std::{
    any::Any,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use foldline_agents::diff::unified_diff;

/// The laws that every reducer, emitter and ledger of this crate satisfies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Law {
    /// The same inputs give the same events and state.
    Determinism,
    /// Stopping anywhere, storing, restoring and continuing gives the same events and state.
    SplitInvariance,
    /// Splitting the bytes anywhere gives the same events.
    ChunkInvariance,
    /// Each opened item is ended exactly once, and is not updated before or after.
    Balance,
    /// Results in another order give the same tool calls in the end.
    OrderOfResults,
    /// No input causes a panic, and nothing is dropped without a trace.
    Totality,
    /// The patches give the same document as the events.
    CommutingDiagram,
    /// An emitter's output is the same alone and in a fan-out.
    Independence,
    /// Entries get the indices 0, 1, 2, ..., and only existing ones are replaced.
    DenseIndices,
    /// A ledger commits everything or nothing, only from the end of the last commit, and keeps it across a restart.
    Ledger,
    /// Interleaved sessions give the same events as each session alone, and updates stay in their session.
    Sessions,
    /// A result belongs to the call whose id it has.
    Pairing,
    /// What a later release adds is reported and kept, and nothing else changes.
    UnknownContent,
    /// The order of fields, white space and escapes change nothing.
    EscapedText,
    /// A state does not grow with the log if nothing is open.
    BoundedState,
    /// Every scalar of every record has the effect on the fold that is declared for it.
    Account,
}

impl Law {
    /// Every law, by number.
    pub const ALL: [Self; 16] = [
        Self::Determinism,
        Self::SplitInvariance,
        Self::ChunkInvariance,
        Self::Balance,
        Self::OrderOfResults,
        Self::Totality,
        Self::CommutingDiagram,
        Self::Independence,
        Self::DenseIndices,
        Self::Ledger,
        Self::Sessions,
        Self::Pairing,
        Self::UnknownContent,
        Self::EscapedText,
        Self::BoundedState,
        Self::Account,
    ];

    /// The laws that need a log as the agent writes it, not a damaged or mutated one.
    pub const OF_REGULAR_LOGS: [Self; 6] = [
        Self::OrderOfResults,
        Self::Pairing,
        Self::UnknownContent,
        Self::EscapedText,
        Self::BoundedState,
        Self::Account,
    ];

    /// Its number, 1 to 16.
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
            Self::Ledger => "ledger",
            Self::Sessions => "sessions",
            Self::Pairing => "pairing",
            Self::UnknownContent => "unknown content",
            Self::EscapedText => "spelling",
            Self::BoundedState => "bounded state",
            Self::Account => "account",
        }
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "law {} ({})", self.number(), self.name())
    }
}

/// The position of a violation. Inputs, events and operations are counted from 0, lines from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Before the first input.
    Start,
    /// At an input of the reducer.
    Input(usize),
    /// At an event.
    Event(usize),
    /// At a line of the log.
    Line(u64),
    /// At an operation on a ledger.
    Operation(usize),
    /// Unknown: a panic occurred.
    Unknown,
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
            Self::Operation(index) => write!(f, "at operation {index}"),
            Self::Unknown => f.write_str("at an unknown place"),
            Self::Completion => f.write_str("at completion"),
        }
    }
}

/// One of two values that should be equal, or the subject of a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// The name of the side.
    pub name: &'static str,
    /// The value: pretty-printed, over several lines.
    pub value: String,
}

/// A violated law: the first position where the violation is visible, and the difference.
///
/// As text, two sides are shown as a unified diff of their pretty-printed values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The law.
    pub law: Law,
    /// The position.
    pub place: Place,
    /// The problem, in one sentence.
    pub message: String,
    /// The values that differ, if there are any.
    pub sides: Vec<Side>,
}

impl Violation {
    /// A violation with a message.
    pub fn new(law: Law, place: Place, message: impl Into<String>) -> Self {
        Self { law, place, message: message.into(), sides: Vec::new() }
    }

    /// Adds one side of the difference.
    #[must_use]
    pub fn side(mut self, name: &'static str, value: &dyn fmt::Debug) -> Self {
        self.sides.push(Side { name, value: format!("{value:#?}") });
        self
    }

    /// Adds one side of the difference as text: a line of a log, a document.
    #[must_use]
    pub fn text(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.sides.push(Side { name, value: value.into() });
        self
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { law, place, message, sides } = self;
        write!(f, "{law} does not hold, {place}: {message}")?;
        let rest = match sides.as_slice() {
            [one, two, rest @ ..] => {
                write_diff(f, one, two)?;
                rest
            }
            sides => sides,
        };
        rest.iter().try_for_each(|Side { name, value }| {
            write!(f, "\n{name}:")?;
            write_lines(f, "  ", &wrapped(value))
        })
    }
}

impl std::error::Error for Violation {}

/// The maximum number of lines shown of a value or a difference, and the maximum length of a line in characters.
const LONGEST: usize = 60;
const WIDEST: usize = 160;

fn write_diff(f: &mut fmt::Formatter<'_>, one: &Side, two: &Side) -> fmt::Result {
    write!(f, "\n--- {}\n+++ {}", one.name, two.name)?;
    let (one, two) = (wrapped(&one.value), wrapped(&two.value));
    let text = unified_diff(&one, &two).decode().into_owned();
    write_lines(f, "", &text)
}

fn write_lines(f: &mut fmt::Formatter<'_>, indent: &str, text: &str) -> fmt::Result {
    let mut lines = text.lines();
    lines.by_ref().take(LONGEST).try_for_each(|line| write!(f, "\n{indent}{line}"))?;
    match lines.count() {
        0 => Ok(()),
        more => write!(f, "\n{indent}.. {more} more lines"),
    }
}

/// The text with long lines wrapped, so that a diff shows only the part that differs.
fn wrapped(text: &str) -> String {
    let mut wrapped = String::with_capacity(text.len() + 1);
    for line in text.lines() {
        for (index, character) in line.chars().enumerate() {
            if index > 0 && index.is_multiple_of(WIDEST) {
                wrapped.push('\n');
            }
            wrapped.push(character);
        }
        wrapped.push('\n');
    }
    wrapped
}

/// Runs a check; a panic is also a violation of `law`.
pub(super) fn caught<T>(
    law: Law,
    place: Place,
    check: impl FnOnce() -> Result<T, Violation>,
) -> Result<T, Violation> {
    // Nothing is inspected after a panic, so no inconsistent value is visible.
    catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|panic| Err(panicked(law, place, &*panic)))
}

/// The violation for a panic.
pub(super) fn panicked(law: Law, place: Place, panic: &(dyn Any + Send)) -> Violation {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
    Violation::new(law, place, format!("it panics: {}", message.unwrap_or("(no message)")))
}

/// The names of the two runs in a [`Violation`].
pub(crate) type Names = [&'static str; 2];

/// Requires that two values are equal.
pub(crate) fn same<T: PartialEq + fmt::Debug + ?Sized>(
    law: Law,
    [one_name, two_name]: Names,
    place: Place,
    message: &str,
    one: &T,
    two: &T,
) -> Result<(), Violation> {
    if one == two {
        return Ok(());
    }
    Err(Violation::new(law, place, message).side(one_name, &one).side(two_name, &two))
}
