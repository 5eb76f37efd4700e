//! [`SessionKeyOf`]: the session of a record.

use std::borrow::Cow;

/// Finds the session name in a record. This is a trait because Rust infers no closure that borrows from the text of a
/// record behind a reference.
pub trait SessionKeyOf<In> {
    /// The session named in a record.
    fn session_of<'r>(&self, record: &'r In) -> Option<Cow<'r, str>>;
}

impl<In, N: SessionKeyOf<In>> SessionKeyOf<In> for &N {
    fn session_of<'r>(&self, record: &'r In) -> Option<Cow<'r, str>> {
        (**self).session_of(record)
    }
}
