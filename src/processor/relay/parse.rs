//! [`ParseAhead`]: inputs that are parsed ahead of their turn; [`HeapSize`]: the bound of what is held until then.

use crate::{position::Locating, processor::decode::Decode};

/// The size of a value in memory, which bounds how much is held.
pub trait HeapSize {
    /// About how many bytes the value takes on the heap.
    fn heap_size(&self) -> usize;
}

impl<T: HeapSize> HeapSize for Box<T> {
    fn heap_size(&self) -> usize {
        T::heap_size(self)
    }
}

/// Parses inputs without their predecessors: in any order, on any thread.
///
/// A reducer receives the parsed inputs in the order of the log. For
/// [`Processor::relay`](crate::processor::Processor::relay).
pub trait ParseAhead<D: Decode>: Sync + 'static {
    /// A parsed input.
    type Parsed<'a>
    where
        Self: 'a;

    /// Parses an input.
    fn parse_ahead<'a>(&'a self, input: D::Input<'a>) -> Self::Parsed<'a>;
}

impl<D: Decode, R: ParseAhead<D>> ParseAhead<D> for Locating<R> {
    type Parsed<'a> = R::Parsed<'a>;

    fn parse_ahead<'a>(&'a self, input: D::Input<'a>) -> Self::Parsed<'a> {
        self.get_ref().parse_ahead(input)
    }
}
