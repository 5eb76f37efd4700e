//! Google's Gemini CLI: the stream of `gemini --output-format stream-json`.

mod action_mapper;
mod recognise;
mod reducer;
mod result;
mod types;

pub use self::{
    reducer::{Gemini, GeminiMemory},
    result::GeminiResult,
};
