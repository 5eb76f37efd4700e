//! Factory's Droid: the stream of `droid exec --output-format stream-json`, and `-o json`.

pub mod action_mapper;
mod reducer;
mod result;
mod types;

pub use self::{
    reducer::{DroidReducer, DroidState},
    result::DroidResult,
    types::{
        Completion, DroidJson, DroidLine, Error, Message, Reasoning, System, ToolCall, ToolError,
        ToolResult,
    },
};
