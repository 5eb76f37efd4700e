//! Wire formats: lines that are mostly JSON objects, read without copying.

pub(crate) mod cursor;
pub(crate) mod object;
mod record;
pub mod value;

pub use self::{
    object::{Fields, MAX_FIELDS, Object},
    record::{Irregular, Record, TooLong},
};
