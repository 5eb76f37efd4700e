//! opencode: the stream of `opencode run --format json`.

mod action_mapper;
mod recognise;
mod reducer;
mod result;
mod types;

pub use self::reducer::Opencode;
