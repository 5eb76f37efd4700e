//! The items that most executors use.
//!
//! ```
//! use foldline_agents::prelude::*;
//! ```

pub use crate::{
    Context, DynExecutor, Evidence, Executor, Extra, Format, Header, MappedCall, Parsed, Registry,
    Verdict, action,
    dialect::growing::Growing,
    files,
    wire::{Object, value},
};
pub use foldline_domain::{
    CorrId, NormalizedEntry, NormalizedEntryType, Session, Text, TokenUsage, ToolStatus,
    tool_calls::ToolOutcome,
};
pub use foldline_json::Raw;
