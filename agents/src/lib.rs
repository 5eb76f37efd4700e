//! The agents: one folder each, wire types in, domain events out.
//!
//! An [`Executor`] reads one log format of one agent. [`ExecutorReducer`] is the reducer that runs an executor and implements
//! the common rules. [`DynExecutor`] is an executor chosen at run time. A [`Registry`] is an extensible list of
//! executors, which may come from other crates. The [`tutorial`] writes an executor.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

pub mod action;
pub mod agents;
pub mod aside;
pub mod command_line;
pub mod content;
mod context;
mod diagnostic;
pub mod dialect;
pub mod diff;
mod documents;
mod dynamic;
mod executor;
pub mod files;
pub mod prelude;
mod recogniser;
mod record_reducer;
mod records;
mod reducing;
mod registry;
pub mod report;
mod sessions;
mod siblings;
#[cfg(feature = "databases")]
pub mod sqlite;
pub mod tutorial;
pub mod wire;

pub use self::{
    action::MappedCall,
    agents::{
        acp, amp, antigravity, atif, claude, cline, codex, copilot, copilot_chat, cursor, droid,
        gemini, goose, grok, hermes, kimi, opencode, pi, qwen, zed,
    },
    context::{Context, Extra, Meta},
    diagnostic::{DiagnosticReducer, ExaminedState, Ignored},
    documents::Documents,
    dynamic::{AnyRecord, AnyState, DynExecutor, SplitExecutor},
    executor::{Beside, Executor, Format, Header, Parsed},
    recogniser::{Evidence, Judge, Recogniser, Verdict},
    record_reducer::{RecordReducer, SessionOf},
    records::{Records, RecordsRead},
    reducing::{ExecutorReducer, SessionState, State},
    registry::Registry,
    sessions::{MAX_SESSIONS, MAX_SESSIONS_SIZE, SessionKeyOf, Sessions, SessionsState},
};
