//! [`ParseAhead`]: parsing of records ahead of time.

use super::record::Record;
use crate::position::Locating;

/// Parses records without their predecessors: in any order, on any thread.
///
/// A reducer receives the parsed records in the order of the log. For
/// [`Processor::relay`](crate::processor::Processor::relay).
pub trait ParseAhead: Sync + 'static {
    /// A parsed record.
    type Parsed<'a>
    where
        Self: 'a;

    /// Parses a record.
    fn parse_ahead<'a>(&'a self, record: Record<'a>) -> Self::Parsed<'a>;
}

impl<R: ParseAhead> ParseAhead for Locating<R> {
    type Parsed<'a> = R::Parsed<'a>;

    fn parse_ahead<'a>(&'a self, record: Record<'a>) -> Self::Parsed<'a> {
        self.get_ref().parse_ahead(record)
    }
}
