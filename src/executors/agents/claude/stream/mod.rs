//! The stream of `claude -p --output-format stream-json --verbose`.

mod outcome;
mod recognise;
mod reducer;
mod run_result;
mod types;

pub use self::reducer::ClaudeStream;
