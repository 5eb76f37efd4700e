//! Any executor: its type erased, with its state and its records, and what is parsed before its turn.

mod any_record;
mod any_state;
mod erased;

pub use self::{
    any_record::AnyRecord,
    any_state::AnyState,
    erased::{DynExecutor, Preparsed},
};
