//! What all wire formats have in common: lines that are mostly JSON objects, read without copying.

mod object;
mod record;
pub mod value;

pub use self::{
    object::{Fields, Object},
    record::{Irregular, Record, TooLong},
};
