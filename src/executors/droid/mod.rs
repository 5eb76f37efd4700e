//! Factory's Droid: the stream of `droid exec --output-format stream-json`, `-o json`, and session
//! files.

pub mod action_mapper;
mod recognise;
mod reducer;
mod result;
mod session;
mod types;

pub use self::{
    reducer::{Droid, DroidMemory, DroidReducer, DroidState},
    result::DroidResult,
    session::{DroidSession, DroidSessionReducer, DroidSessionState},
    types::{
        Completion, DroidJson, Error, Message, Reasoning, System, ToolCall, ToolError, ToolResult,
    },
};
