//! [`Masking`]: masks secrets before a line leaves the machine.
//!
//! A line is collected completely before it is masked and cut, because a secret may span a cut. The sent bytes depend
//! only on the line: a log that is resumed in the middle of a line is read again from the beginning of that line, and
//! bytes that were already sent are skipped. Positions in the log therefore do not depend on masking.

use std::{cell::RefCell, rc::Rc};

use foldline::processor::DEFAULT_MAX_LINE;
use foldline_render::redact::Masker;

/// The longest line that is collected, with its line end. Workers do not parse longer lines, either.
const LONGEST: usize = DEFAULT_MAX_LINE + 2;

/// The masker of all logs: constructing it takes longer than masking most logs.
pub(super) type SharedMasker = Rc<RefCell<Masker>>;

/// The masking state of one log.
#[derive(Debug)]
pub(super) struct Masking {
    masker: SharedMasker,
    pub(super) longest: usize,
    /// How much of the held line was already sent.
    pub(super) sent: usize,
    /// The line is too long to be collected. Its beginning may have been passed on, and is not held then.
    pub(super) is_too_long: bool,
    /// There was an overlong line; `is_reported` is set once it is reported.
    had_too_long: bool,
    is_reported: bool,
}

impl Masking {
    pub(super) fn new(masker: SharedMasker) -> Self {
        Self::up_to(LONGEST, masker)
    }

    pub(super) fn up_to(longest: usize, masker: SharedMasker) -> Self {
        let (is_too_long, had_too_long, is_reported) = (false, false, false);
        Self { masker, longest, sent: 0, is_too_long, had_too_long, is_reported }
    }

    /// Masks a complete line, or the rest of a long one. Returns how much of it was already sent.
    pub(super) fn line(&mut self, line: &mut [u8]) -> usize {
        match self.is_too_long {
            true => cover(line),
            false => self.masker.borrow_mut().mask(line),
        }
        let sent = self.sent;
        self.clear();
        sent
    }

    /// Discards the state of the held line.
    pub(super) fn clear(&mut self) {
        (self.sent, self.is_too_long) = (0, false);
    }

    /// Records the number of held bytes of a line; returns whether it is too long.
    pub(super) fn holds(&mut self, held: usize) -> bool {
        self.is_too_long |= held > self.longest;
        self.had_too_long |= self.is_too_long;
        self.is_too_long
    }

    /// Whether to report that a line was too long to be searched; true once.
    pub(super) fn has_too_long(&mut self) -> bool {
        self.had_too_long && !std::mem::replace(&mut self.is_reported, true)
    }
}

/// Masks an entire line that cannot be searched. A carriage return may belong to its line end.
pub(super) fn cover(line: &mut [u8]) {
    for byte in line.iter_mut().filter(|byte| !matches!(**byte, b'\r' | b'\n')) {
        *byte = b'*';
    }
}

/// A human-readable summary of the masked strings.
pub(super) fn note(masker: &Masker) -> String {
    let counts: Vec<_> = masker.masked().map(|(kind, n)| format!("{n} × {kind}")).collect();
    match counts.is_empty() {
        true => "masked nothing (best effort)".to_owned(),
        false => format!("masked (best effort): {}", counts.join(", ")),
    }
}

/// A path as sent in messages.
pub(super) fn path(shown: &str, masker: Option<&SharedMasker>) -> String {
    let mut path = shown.as_bytes().to_vec();
    if let Some(masker) = masker {
        masker.borrow_mut().mask(&mut path);
    }
    String::from_utf8_lossy(&path).into_owned()
}
