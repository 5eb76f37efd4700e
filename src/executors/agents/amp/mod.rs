//! Sourcegraph's Amp: the stream of `amp --execute --stream-json`.

mod action_mapper;
mod recognise;
mod reducer;
mod result;
mod types;

pub use self::reducer::Amp;
