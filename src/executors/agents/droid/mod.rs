//! Factory's Droid: the stream of `droid exec --output-format stream-json`, `-o json`, the messages of
//! `stream-jsonrpc`, session files, and the settings beside these.

mod action_mapper;
mod jsonrpc;
mod message;
mod reducer;
mod result;
mod session;
mod settings;
mod types;
mod usage;

pub use self::{
    jsonrpc::DroidJsonrpc, reducer::Droid, session::DroidSession, settings::DroidSettings,
};
