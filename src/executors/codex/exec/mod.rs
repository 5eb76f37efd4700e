//! `codex exec --json`.

mod items;
mod reducer;
mod threads;
mod types;

pub use self::{
    reducer::{CodexExecReducer, CodexExecState},
    types::{ExecJson, ExecLine, Item, ItemKind, Phase},
};
