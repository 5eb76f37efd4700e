//! What all wire formats have in common: lines that are mostly JSON objects, read without copying.

mod cursor;
mod object;
mod record;
mod split;
pub mod value;

pub(crate) use self::cursor::RecordCursor;
pub(crate) use self::object::distinct;
pub use self::{
    object::{Fields, MAX_FIELDS, Object},
    record::{Irregular, Record, TooLong},
};
