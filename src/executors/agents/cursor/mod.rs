//! The Cursor agent: the stream of `cursor-agent --print --output-format stream-json`.

mod action_mapper;
mod answer;
mod recognise;
mod reducer;
mod types;

pub use self::reducer::{Cursor, CursorMemory};
