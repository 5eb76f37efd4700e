//! The items that most executors use.
//!
//! ```
//! use foldline_agents::prelude::*;
//! ```

pub use std::borrow::Cow;

pub use crate::{
    Beside, Context, DynExecutor, Evidence, Executor, Extra, Format, Header, MappedCall, Meta,
    Parsed, Registry, Verdict, action,
    dialect::growing::Growing,
    files,
    wire::{Fields, Object, value},
};
pub use foldline_domain::{
    ActionType, Authority, CommandExitStatus, Content, CorrId, FileChange, Json, Limit,
    NormalizedEntry, NormalizedEntryType, Outcome, Parent, RecordTitle, Session, SessionId, Text,
    Timestamp, TokenUsage, ToolResult, ToolStatus,
    tool_calls::{CallResult, RecentIds, ResultKey, ResultParser, ToolOutcome},
};
pub use foldline_json::Raw;
