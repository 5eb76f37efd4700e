//! The stream of `qwen -o stream-json`, with and without `--include-partial-messages`, and the array of
//! `-o json`.

mod recognise;
mod reducer;
mod types;

pub use self::reducer::Qwen;
