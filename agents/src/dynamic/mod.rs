//! Executors with erased types, their states and their records.

mod any_record;
mod any_state;
mod erased;
mod record_reducer;

pub use self::{
    any_record::AnyRecord,
    any_state::AnyState,
    erased::{DynExecutor, SplitExecutor},
    record_reducer::{RecordReducer, SessionOf},
};
