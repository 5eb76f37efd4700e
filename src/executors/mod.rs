//! The agents: one folder each, wire types in, domain events out.

pub mod action;
pub mod claude;
pub mod codex;
pub mod content;
pub mod context;
pub mod droid;
pub mod erased;
pub mod executor;
pub mod facts;
pub mod files;
mod format;
pub mod recognise;
pub mod reducing;
mod registry;
pub mod report;
pub mod sessions;
pub mod tutorial;

pub use crate::wire;

pub use self::{
    format::Format,
    recognise::{Recogniser, Verdict, recognise},
    registry::{Executor, ExecutorState},
};
