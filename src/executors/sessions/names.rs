//! [`NamesSession`]: the session of a record; [`StateSize`]: the size of a state.

use std::borrow::Cow;

/// Finds the session name in a record. This is a trait because Rust infers no closure that borrows from the text of a
/// record behind a reference.
pub trait NamesSession<In> {
    /// The session named in a record.
    fn session_of<'r>(&self, record: &'r In) -> Option<Cow<'r, str>>;
}

impl<In, N: NamesSession<In>> NamesSession<In> for &N {
    fn session_of<'r>(&self, record: &'r In) -> Option<Cow<'r, str>> {
        (**self).session_of(record)
    }
}

/// A state that knows its size.
pub trait StateSize {
    /// The approximate number of bytes of the log that the state holds back.
    fn size(&self) -> usize;
}

impl<S: StateSize> StateSize for Box<S> {
    fn size(&self) -> usize {
        (**self).size()
    }
}
