//! [`Masking`]: masks secrets before a line leaves the machine.
//!
//! A line is gathered whole before it is masked and cut, as a secret may stand where it is cut. What is sent of it depends
//! on the line only: a log that is gone on with in the middle of a line is read again from the beginning of that line,
//! and what was sent of it before is left out. So places in the log mean the same whether secrets are masked or not.

use std::{cell::RefCell, rc::Rc};

use foldline::{emitters::redact::Masker, processor::DEFAULT_MAX_LINE};

/// The longest line that is gathered, with its line end. Workers do not parse a longer one, either.
const LONGEST: usize = DEFAULT_MAX_LINE + 2;

/// The masker of all logs: to make one takes longer than most logs do.
pub(super) type SharedMasker = Rc<RefCell<Masker>>;

/// How the lines of one log are masked.
#[derive(Debug)]
pub(super) struct Masking {
    masker: SharedMasker,
    pub(super) longest: usize,
    /// How much was sent before of the line that is held.
    pub(super) sent: usize,
    /// The line is longer than what is gathered. Its beginning may have been given, and is not held then.
    pub(super) is_too_long: bool,
    /// There was such a line, which is to be said; and it was.
    had_too_long: bool,
    is_said: bool,
}

impl Masking {
    pub(super) fn new(masker: SharedMasker) -> Self {
        Self::up_to(LONGEST, masker)
    }

    pub(super) fn up_to(longest: usize, masker: SharedMasker) -> Self {
        let (is_too_long, had_too_long, is_said) = (false, false, false);
        Self { masker, longest, sent: 0, is_too_long, had_too_long, is_said }
    }

    /// Masks a line that is complete, or the rest of a long one. Returns how much of it was sent before.
    pub(super) fn line(&mut self, line: &mut [u8]) -> usize {
        match self.is_too_long {
            true => cover(line),
            false => self.masker.borrow_mut().mask(line),
        }
        let sent = self.sent;
        self.clear();
        sent
    }

    /// Forgets the line that is held.
    pub(super) fn clear(&mut self) {
        (self.sent, self.is_too_long) = (0, false);
    }

    /// Takes note of how much is held of a line; whether it is too long by now.
    pub(super) fn holds(&mut self, held: usize) -> bool {
        self.is_too_long |= held > self.longest;
        self.had_too_long |= self.is_too_long;
        self.is_too_long
    }

    /// Whether it is to be said that a line was too long to be searched; once.
    pub(super) fn has_too_long(&mut self) -> bool {
        self.had_too_long && !std::mem::replace(&mut self.is_said, true)
    }
}

/// Masks all of a line that cannot be searched. A carriage return may be a part of its line end.
pub(super) fn cover(line: &mut [u8]) {
    for byte in line.iter_mut().filter(|byte| !matches!(**byte, b'\r' | b'\n')) {
        *byte = b'*';
    }
}

/// What was masked, for a person.
pub(super) fn note(masker: &Masker) -> String {
    let counts: Vec<_> = masker.masked().map(|(kind, n)| format!("{n} × {kind}")).collect();
    match counts.is_empty() {
        true => "nothing to mask was found".to_owned(),
        false => format!("masked, as far as it was found: {}", counts.join(", ")),
    }
}

/// A path as messages have it.
pub(super) fn path(shown: &str, masker: Option<&SharedMasker>) -> String {
    let mut path = shown.as_bytes().to_vec();
    if let Some(masker) = masker {
        masker.borrow_mut().mask(&mut path);
    }
    String::from_utf8_lossy(&path).into_owned()
}
