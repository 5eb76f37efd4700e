//! The agents: one folder each, wire types in, domain events out.

pub mod action;
pub mod claude;
pub mod codex;
pub mod content;
pub mod droid;
pub mod facts;
pub mod files;
mod format;
pub mod recognise;
mod registry;
pub mod report;
pub mod tutorial;
pub mod wire;

pub use self::{
    format::Format,
    recognise::{Recogniser, Verdict, recognise},
    registry::{Executor, ExecutorState},
};
