//! [`Malformed`]: counts the records of a log that are malformed, for `--strict`.

use std::convert::Infallible;

use foldline::transduce::{Batch, Emitter, Resume};
use foldline_domain::{DomainEvent, Located, WarningKind};

/// Counts the records that are malformed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Malformed(pub(crate) u64);

impl Emitter<Located<DomainEvent>, Infallible> for Malformed {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Infallible> {
        if let DomainEvent::Warning(warning) = &event.item {
            self.0 += u64::from(matches!(
                warning.kind,
                WarningKind::Malformed
                    | WarningKind::PlainText
                    | WarningKind::InvalidUtf8
                    | WarningKind::TooLong
                    | WarningKind::UnexpectedValue
            ));
        }
        Batch::EMPTY
    }
}

impl Resume for Malformed {
    type State = u64;

    fn state(&self) -> u64 {
        self.0
    }

    fn resume(&mut self, state: u64) {
        self.0 = state;
    }
}
