//! The agents: one folder each, wire types in, domain events out.
//!
//! An [`Executor`] reads one log format of one agent. What all of them have in common is in
//! [`Reducing`], the reducer that runs one; [`DynExecutor`] is any of them, chosen at run time, and a
//! [`Registry`] is a list of them that is open: an executor of another crate is recognised and read
//! like one of these. The [`tutorial`] writes one.

pub mod acp;
pub mod action;
mod ahead;
pub mod amp;
mod any_record;
mod any_state;
pub mod aside;
pub mod claude;
pub mod codex;
pub mod command_line;
pub mod content;
mod context;
pub mod copilot;
pub mod cursor;
mod dialect;
pub mod diff;
pub mod droid;
mod erased;
mod evidence;
mod executor;
mod facts;
pub mod files;
mod format;
pub mod gemini;
pub mod opencode;
pub mod qwen;
mod recogniser;
mod reducing;
mod registry;
pub(crate) mod report;
mod sessions;
pub mod tutorial;

pub use crate::wire;

pub use self::{
    action::MappedCall,
    ahead::Preparsed,
    any_record::AnyRecord,
    any_state::AnyState,
    context::{Context, Extra, Meta},
    erased::DynExecutor,
    evidence::{Evidence, Judge},
    executor::{Executor, Header, Parsed},
    format::Format,
    recogniser::{Recogniser, Verdict},
    reducing::{Reducing, SessionState, State},
    registry::Registry,
    sessions::{MAX_SESSIONS, MAX_SESSIONS_SIZE, NamesSession, Sessions, SessionsState, StateSize},
};
