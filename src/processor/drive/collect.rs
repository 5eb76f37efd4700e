//! [`Collect`]: what a segment collects until it is committed.

use std::convert::Infallible;

use crate::transduce::Batch;

/// Collects the outputs of an emitter until they are committed.
///
/// [`Segments`](super::Segments) begin each segment with the default value, add every output, and commit the value. An
/// output that merges with an earlier one, such as the result of a call, is merged here. A tuple of collections
/// collects the outputs of a fan-out.
///
/// ```
/// use foldline::processor::Collect;
///
/// #[derive(Default)]
/// struct Names {
///     all: Vec<String>,
///     size: usize,
/// }
///
/// impl Collect for Names {
///     type Item = String;
///
///     fn add(&mut self, name: String) {
///         self.size += name.len();
///         self.all.push(name);
///     }
///
///     fn size(&self) -> usize {
///         self.size
///     }
/// }
/// ```
pub trait Collect: Default {
    /// An output of the emitter.
    type Item;

    /// Adds the next output.
    fn add(&mut self, output: Self::Item);

    /// The approximate size in bytes, 0 of the default value: a segment that becomes too large for memory is due.
    /// Called for each input, so keep a running total rather than counting.
    fn size(&self) -> usize;
}

/// The outputs one after another: what a [`FileLedger`](crate::ledger::FileLedger) commits.
impl Collect for Vec<u8> {
    type Item = Vec<u8>;

    fn add(&mut self, output: Vec<u8>) {
        self.extend_from_slice(&output);
    }

    fn size(&self) -> usize {
        self.len()
    }
}

/// Nothing, of emitters without output.
impl Collect for () {
    type Item = Infallible;

    fn add(&mut self, output: Infallible) {
        match output {}
    }

    fn size(&self) -> usize {
        0
    }
}

macro_rules! tuple {
    ($($C:ident $at:tt),+) => {
        /// The outputs of a fan-out, each in the collection at its position.
        impl<$($C: Collect),+> Collect for ($($C,)+) {
            type Item = ($(Batch<$C::Item>,)+);

            fn add(&mut self, output: Self::Item) {
                $(output.$at.drain_with(|output| self.$at.add(output));)+
            }

            fn size(&self) -> usize {
                0_usize$(.saturating_add(self.$at.size()))+
            }
        }
    };
}

tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
