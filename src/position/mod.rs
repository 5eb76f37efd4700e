//! Places in a log: where a value stands, of which line, in which session.
//!
//! A [`Located`] value has a [`Position`], the [`Digest`] of its line where that is asked for, and the [`SessionKey`] of
//! its session. Reducers and emitters that need none of these are adapted by [`locating`] and [`by_item`].

mod by_item;
mod digest;
mod located;
mod locating;

pub use self::{
    by_item::{ByItem, by_item},
    digest::{Digest, HexDigits, NotADigest},
    located::{Located, Position, SessionKey},
    locating::{Locating, LocatingState, locating},
};
