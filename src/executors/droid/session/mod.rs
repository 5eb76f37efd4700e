//! Droid's session files: `~/.factory/sessions/<project>/<session>.jsonl`.
//!
//! The settings file beside each of them is one JSON object without a type: nothing of a
//! conversation, and never taken for the beginning of one.

mod recognise;
mod reducer;
mod types;

pub use self::reducer::DroidSession;
