//! The vocabulary: events, entries, tool calls and the facts of a session.

mod action;
mod content;
mod document;
mod entry;
mod event;
mod extra;
mod id;
mod limit;
#[cfg(feature = "schema")]
mod schema;
mod session;
mod size;
mod texts;
pub mod tool_calls;
mod usage;
mod warning_kind;

pub use foldline::position::{
    ByItem, Digest, HexDigits, Located, Locating, LocatingState, NotADigest, Position, SessionKey,
    Timestamp, by_item, locating,
};
pub use foldline_json::{EscapedText, Json, Lines, Text};

pub(crate) use self::document::{EntrySlot, entry_of_call};
#[cfg(feature = "schema")]
pub use self::schema::PortableSchema;
pub use self::{
    action::{
        ActionType, CommandExitStatus, CommandRunResult, FileChange, TodoItem, ToolKind, ToolResult,
    },
    content::{Content, Image},
    document::{Conversation, Summary, SummaryPart},
    entry::{Metadata, NormalizedEntry, NormalizedEntryType, ToolStatus, ToolUse},
    event::{DomainEvent, Warning},
    extra::Extra,
    id::{CorrId, EntryIdx, SessionId, TaskId},
    limit::Limit,
    session::{Allowed, Authority, Outcome, Parent, RecordTitle, Relation, Session},
    size::length_of_extra,
    tool_calls::ToolCalls,
    usage::{OF_THREAD, OF_WINDOW, TokenUsage},
    warning_kind::WarningKind,
};
