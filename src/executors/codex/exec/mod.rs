//! `codex exec --json`.

mod growing;
mod items;
mod reducer;
mod step;
mod threads;
mod types;

pub use self::{
    reducer::{CodexExec, CodexExecReducer, CodexExecState},
    step::CodexExecMemory,
};
