//! The stream of `claude -p --output-format stream-json --verbose`.

mod event;
mod outcome;
mod recognise;
mod reducer;
mod run_result;
mod streamed;
mod types;

pub use self::reducer::ClaudeStream;
