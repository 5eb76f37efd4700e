//! [`NamesSession`]: the session that a record names; [`StateSize`]: what a session holds back.

use std::borrow::Cow;

/// Finds the session of a record in the record itself. (A closure cannot: none can be inferred that borrows from the
/// text of a record that it is given by reference.)
pub trait NamesSession<In> {
    /// The session that a record names.
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
