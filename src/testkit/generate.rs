//! Strategies for what is common to the logs of all agents.
//!
//! Everything is made as text, not as a tree, since the oddities of real logs are oddities of text:
//! numbers that no integer holds, lone surrogates, keys in any order, lines without their other half.

mod calls;
mod disturb;
mod events;
mod log;
mod mutated;
mod value;

pub use self::{
    calls::{Calls, calls},
    disturb::disturbed,
    events::{events, located_events},
    log::{LogBytes, concat, garbage},
    mutated::mutated,
    value::{
        Field, FieldsStrategy, Tool, array, field, fields, json, kind, list, literal, maybe,
        number, object, path, quote, time, tool, word,
    },
};
