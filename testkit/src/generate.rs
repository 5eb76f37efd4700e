//! Strategies for the common parts of agent logs.
//!
//! Everything is generated as text, not as a tree, because the oddities of real logs are oddities of text: numbers
//! that no integer type holds, lone surrogates, keys in any order, torn lines.

mod calls;
mod disturb;
mod events;
mod log;
mod marked;
mod mutated;
mod value;

pub use self::{
    calls::{Calls, calls},
    disturb::disturbed,
    events::{events, located_events},
    log::{LogBytes, concat, garbage},
    marked::{marked, sessions},
    mutated::mutated,
    value::{
        Field, FieldsStrategy, Tool, array, field, fields, json, kind, list, literal, maybe,
        number, object, path, quote, time, tool, word,
    },
};
