//! [`Violation`]: a violated law, its position, and the evidence.

use std::{
    cell::RefCell,
    fmt,
    panic::{self, AssertUnwindSafe, catch_unwind},
    sync::Once,
};

use crate::transduce::Fault;

/// Declares the laws once: name, documentation, number.
macro_rules! catalogue {
    ($($(#[doc = $doc:literal])+ $Law:ident $name:literal,)+) => {
        /// The laws of this module, and of `foldline-testkit`, which adds those for readers of logs and for ledgers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Law {
            $($(#[doc = $doc])+ $Law,)+
        }

        impl Law {
            /// Every law, by number.
            pub const ALL: &'static [Self] = &[$(Self::$Law),+];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$Law => $name,)+
                }
            }
        }
    };
}

catalogue! {
    /// The same inputs give the same events and state.
    Determinism "determinism",
    /// Stopping anywhere, storing, restoring and continuing gives the same events and state.
    SplitInvariance "split invariance",
    /// Splitting the bytes, or the events of an emitter, anywhere gives the same result.
    ChunkInvariance "chunk invariance",
    /// Each opened item is ended exactly once, and is not updated before or after.
    Balance "balance",
    /// Results in another order give the same pairs of calls and results in the end.
    OrderOfResults "irrelevance of the order of results",
    /// No input causes a panic, and nothing is dropped without a trace.
    Totality "totality",
    /// The patches give the same document as the events.
    CommutingDiagram "commuting diagram",
    /// An emitter's output is the same alone and in a fan-out.
    Independence "independence of sinks",
    /// Entries get the indices 0, 1, 2, ..., and only existing ones are replaced.
    DenseIndices "dense indices",
    /// A ledger commits everything or nothing, only from the end of the last commit, and keeps it across a restart.
    Ledger "ledger",
    /// Interleaved sessions give the same events as each session alone, and updates stay in their session.
    Sessions "sessions",
    /// A result belongs to the call whose id it has.
    Pairing "pairing",
    /// What a later release adds is reported and kept, and nothing else changes.
    UnknownContent "unknown content",
    /// The order of fields, white space and escapes change nothing.
    EscapedText "spelling",
    /// A state does not grow with the log if nothing is open.
    BoundedState "bounded state",
    /// Every scalar of every record has the effect on the fold that is declared for it.
    Account "account",
    /// Finishing a copy of the state changes nothing for the rest of the run, and nothing has an effect after the end.
    Prefix "prefix",
    /// Another time zone, locale, home or working folder, and another process, change nothing.
    Environment "environment",
    /// A quantity of the inputs equals one of the events.
    Conservation "conservation",
    /// A measure never falls.
    Monotonicity "monotonicity",
    /// An input that is repeated changes nothing.
    Idempotence "idempotence",
    /// Independent inputs may be exchanged.
    Commutation "commutation",
    /// The states of two parts of the inputs merge into the state of the whole.
    Merge "merge",
    /// A simple, slow reducer gives the same events.
    Model "model",
    /// The events, written as inputs again, give the same events.
    RoundTrip "round trip",
    /// A client that joins later has the same document.
    Join "join",
    /// A transducer that is stored, killed and resumed at random commits what an uninterrupted one commits.
    Walk "random walk",
    /// A log of thousands of records is read to its end like a short one.
    Length "length",
    /// What is said is in the log, or is a declared phrase.
    Invention "invention",
}

impl Law {
    /// The laws that an executor, its emitters and its ledger satisfy.
    pub const OF_EXECUTORS: &'static [Self] = Self::ALL.split_at(16).0;

    /// The laws that need a log as the agent writes it, not a damaged or mutated one.
    pub const OF_REGULAR_LOGS: [Self; 6] = [
        Self::OrderOfResults,
        Self::Pairing,
        Self::UnknownContent,
        Self::EscapedText,
        Self::BoundedState,
        Self::Account,
    ];

    /// A list of this law alone.
    pub(super) fn alone(self) -> &'static [Self] {
        &Self::ALL[self as usize..=self as usize]
    }

    /// Its number, from 1.
    pub fn number(self) -> usize {
        self as usize + 1
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
    /// Whether it is one of two values that are compared.
    pub is_compared: bool,
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
        self.sides.push(Side { name, value: format!("{value:#?}"), is_compared: true });
        self
    }

    /// Adds a value that is shown, and not compared with another one, such as the inputs.
    #[must_use]
    pub fn shown(mut self, name: &'static str, value: &dyn fmt::Debug) -> Self {
        self.sides.push(Side { name, value: format!("{value:#?}"), is_compared: false });
        self
    }

    /// Adds one side of the difference as text: a line of a log, a document.
    #[must_use]
    pub fn text(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.sides.push(Side { name, value: value.into(), is_compared: true });
        self
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { law, place, message, sides } = self;
        write!(f, "{law} does not hold, {place}: {message}")?;
        let rest = match sides.as_slice() {
            [one, two, rest @ ..] if one.is_compared && two.is_compared => {
                write_diff(f, one, two)?;
                rest
            }
            sides => sides,
        };
        rest.iter().try_for_each(|Side { name, value, .. }| {
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
    write_lines(f, "", &difference(&one, &two))
}

fn write_lines(f: &mut fmt::Formatter<'_>, indent: &str, text: &str) -> fmt::Result {
    let mut lines = text.lines();
    lines.by_ref().take(LONGEST).try_for_each(|line| write!(f, "\n{indent}{line}"))?;
    match lines.count() {
        0 => Ok(()),
        more => write!(f, "\n{indent}.. {more} more lines"),
    }
}

/// The number of equal lines shown around a difference.
const CONTEXT: usize = 3;

/// The lines from the first to the last one that differs, as one hunk of a unified diff.
fn difference(one: &str, two: &str) -> String {
    let [one, two] = [one, two].map(|text| text.lines().collect::<Vec<_>>());
    let start = one.iter().zip(&two).take_while(|(one, two)| one == two).count();
    let rest = one[start..].iter().rev().zip(two[start..].iter().rev());
    let end = rest.take_while(|(one, two)| one == two).count();
    let from = start.saturating_sub(CONTEXT);
    let [until_one, until_two] =
        [&one, &two].map(|lines| lines.len() - end.saturating_sub(CONTEXT));
    let (lines_of_one, lines_of_two) = (until_one - from, until_two - from);
    let mut text = format!("@@ -{},{lines_of_one} +{},{lines_of_two} @@\n", from + 1, from + 1);
    let mut add = |mark: char, lines: &[&str]| {
        lines.iter().for_each(|line| text.extend([mark.to_string().as_str(), line, "\n"]));
    };
    add(' ', &one[from..start]);
    add('-', &one[start..one.len() - end]);
    add('+', &two[start..two.len() - end]);
    add(' ', &one[one.len() - end..until_one]);
    text
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

thread_local! {
    /// While panics of this thread become violations and are not printed: the place of the last one.
    static CAUGHT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a check; a panic is also a violation of `law`, and is not printed.
///
/// # Errors
/// The violation of the check.
pub fn caught<T>(
    law: Law,
    place: Place,
    check: impl FnOnce() -> Result<T, Violation>,
) -> Result<T, Violation> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            let at = panic.location().map(|at| format!(" ({at})")).unwrap_or_default();
            let is_caught = CAUGHT.with_borrow_mut(|caught| caught.as_mut().map(|it| *it = at));
            is_caught.unwrap_or_else(|| print(panic));
        }));
    });
    let outer = CAUGHT.replace(Some(String::new()));
    // Nothing is inspected after a panic, so no inconsistent value is visible.
    let result = catch_unwind(AssertUnwindSafe(check));
    let at = CAUGHT.replace(outer).unwrap_or_default();
    result.unwrap_or_else(|panic| {
        let message = Fault::of(&*panic).to_string().replacen("panicked", "panics", 1);
        Err(Violation::new(law, place, message + &at))
    })
}

/// The names of the two runs in a [`Violation`].
pub type Names = [&'static str; 2];

/// Requires that two values are equal.
///
/// # Errors
/// A violation that shows both.
pub fn same<T: PartialEq + fmt::Debug + ?Sized>(
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
