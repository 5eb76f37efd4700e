//! The items that most executors use.
//!
//! ```
//! use foldline::executors::prelude::*;
//! ```

pub use crate::{
    conversation::{
        CorrId, NormalizedEntry, NormalizedEntryType, Session, Text, TokenUsage, ToolStatus,
        tool_calls::ToolOutcome,
    },
    executors::{
        Context, DynExecutor, Evidence, Executor, Extra, Format, Header, MappedCall, Parsed,
        Registry, Verdict, action,
        dialect::growing::Growing,
        files,
        wire::{Object, value},
    },
    json::Raw,
};
