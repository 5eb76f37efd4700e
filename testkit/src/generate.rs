//! Strategies for the common parts of agent logs.
//!
//! Everything is generated as text, not as a tree, because the oddities of real logs are oddities of text: numbers
//! that no integer type holds, lone surrogates, keys in any order, torn lines.

mod events;
mod log;
mod marked;
mod mutated;
mod value;

pub(crate) use self::value::each_string;
pub use self::{
    events::{events, located_events},
    log::{Calls, LogBytes, calls, concat, disturbed, garbage},
    marked::{marked, sessions},
    mutated::mutated,
    value::{
        Field, FieldsStrategy, Tool, array, field, fields, json, kind, list, literal, maybe,
        number, object, path, quote, time, tool, word,
    },
};
