//! Factory's Droid: the stream of `droid exec --output-format stream-json`, `-o json`, and session
//! files.

pub mod action_mapper;
mod recognise;
mod reducer;
mod result;
mod session;
mod types;

pub use self::{reducer::Droid, session::DroidSession};
