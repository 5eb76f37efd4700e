//! Positions in a log: the line, the offset and the session of a value.
//!
//! A [`Located`] value has a [`Position`], optionally the [`Digest`] of its line, and the [`SessionKey`] of its
//! session. [`locating`] and [`by_item`] adapt reducers and emitters that need none of these.

mod by_item;
mod digest;
mod located;
mod locating;
mod time;

pub use self::{
    by_item::{ByItem, by_item},
    digest::{Digest, HexDigits, NotADigest},
    located::{Located, Position, SessionKey},
    locating::{Locating, LocatingState, locating},
    time::Timestamp,
};
