//! The vocabulary: events, entries, tool calls and the facts of a session.

mod action;
mod authority;
mod content;
mod document;
mod entry;
mod event;
mod extra;
mod id;
mod image;
#[cfg(feature = "schema")]
mod portable_schema;
#[cfg(feature = "schema")]
mod schema;
mod session;
mod size;
mod summary;
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
pub use self::portable_schema::PortableSchema;
pub use self::{
    action::{
        ActionType, CommandExitStatus, CommandRunResult, FileChange, TodoItem, ToolKind, ToolResult,
    },
    authority::{Allowed, Authority},
    content::Content,
    document::Conversation,
    entry::{Metadata, NormalizedEntry, NormalizedEntryType, ToolStatus, ToolUse},
    event::{DomainEvent, Warning},
    extra::Extra,
    id::{CorrId, EntryIdx, SessionId, TaskId},
    image::Image,
    session::{Outcome, Session},
    size::length_of_extra,
    summary::{Summary, SummaryPart},
    tool_calls::ToolCalls,
    usage::TokenUsage,
    warning_kind::WarningKind,
};
