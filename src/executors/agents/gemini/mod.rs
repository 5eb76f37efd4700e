//! Google's Gemini CLI: the stream of `gemini --output-format stream-json`.

mod recognise;
mod reducer;
mod types;

pub use self::reducer::{Gemini, GeminiMemory};
