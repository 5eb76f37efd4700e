//! Positions in a log: the line, the offset and the session of a value.
//!
//! A [`Located`] value has a [`Position`], optionally the [`Digest`] of its line, and the [`SessionKey`] of its
//! session. [`locating`] and [`by_item`] adapt reducers and emitters that need none of these.

mod digest;
mod located;
mod locating;

pub use self::{
    digest::{Digest, HexDigits, NotADigest},
    located::{Located, Position, SessionKey, Timestamp},
    locating::{ByItem, Locating, LocatingState, by_item, locating},
};
