//! [`ParseAhead`]: records that are parsed before their turn.

use super::record::Record;
use crate::position::Locating;

/// Parses records without knowing what stands before them: in any order, on any thread.
///
/// What it makes of them is the input of a reducer, which gets it in the order of the log. For
/// [`Processor::relay`](crate::processor::Processor::relay).
pub trait ParseAhead: Sync + 'static {
    /// A record, parsed.
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
