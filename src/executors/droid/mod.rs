//! Factory's Droid: the stream of `droid exec --output-format stream-json`, `-o json`, and session
//! files.

pub mod action_mapper;
mod reducer;
mod result;
mod session;
mod types;

pub use self::{
    reducer::{DroidReducer, DroidState},
    result::DroidResult,
    session::{
        DroidSessionReducer, DroidSessionState, SessionBlock, SessionJson, SessionLine,
        SessionMessage, SessionStart,
    },
    types::{
        Completion, DroidJson, DroidLine, Error, Message, Reasoning, System, ToolCall, ToolError,
        ToolResult,
    },
};
