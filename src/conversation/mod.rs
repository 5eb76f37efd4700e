//! The domain: a conversation with a coding agent, in types common to all agents and consumers.
//!
//! [`DomainEvent`] is the only boundary: executors produce events, emitters read them. An event carries a
//! [`NormalizedEntry`], facts about the [`Session`], [`TokenUsage`], or a [`Warning`]; wrapped in [`Located`] it has
//! its position in the log. [`ToolCalls`] is the correlation machine shared by all executors, and [`Conversation`]
//! folds all events into one document.

mod action;
mod authority;
mod document;
mod entry;
mod event;
mod extra;
mod id;
mod image;
mod json;
mod portable;
#[cfg(feature = "schema")]
mod portable_schema;
#[cfg(feature = "schema")]
mod schema;
mod session;
mod size;
mod summary;
mod text;
mod time;
pub mod tool_calls;
mod usage;
mod warning_kind;

#[allow(unused_imports, reason = "patches say the same, in a layer above")]
pub(crate) use self::document::{EntrySlot, entry_of_call};
#[cfg(feature = "schema")]
pub use self::portable_schema::PortableSchema;
pub use self::size::length_of_extra;
pub use self::text::{Lines, Spelling};
pub use self::{
    action::{
        ActionType, CommandExitStatus, CommandRunResult, FileChange, TodoItem, ToolKind, ToolResult,
    },
    authority::{Allowed, Authority},
    document::Conversation,
    entry::{Metadata, NormalizedEntry, NormalizedEntryType, ToolStatus, ToolUse},
    event::{DomainEvent, Warning},
    extra::Extra,
    id::{CorrId, EntryIdx, SessionId, TaskId},
    image::Image,
    json::Json,
    session::{Outcome, Session},
    summary::{Summary, SummaryPart},
    text::Text,
    time::Timestamp,
    tool_calls::ToolCalls,
    usage::TokenUsage,
    warning_kind::WarningKind,
};
pub use crate::position::{
    ByItem, Digest, HexDigits, Located, Locating, LocatingState, NotADigest, Position, SessionKey,
    by_item, locating,
};
