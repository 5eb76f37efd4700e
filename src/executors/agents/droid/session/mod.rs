//! Droid's session files: `~/.factory/sessions/<project>/<session>.jsonl`.
//!
//! The tokens of a session are in the settings file beside it, which is a format of its own.

mod recognise;
mod reducer;
mod types;

pub use self::reducer::DroidSession;
