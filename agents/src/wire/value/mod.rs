//! Functions that read a single raw value.

mod single;

pub use self::single::{MAX_ELEMENTS, as_str, as_timestamp, as_u64, elements, into_text, parse};
pub use super::object::object;
