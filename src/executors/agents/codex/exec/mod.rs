//! `codex exec --json`.

mod growing;
mod items;
mod recognise;
mod reducer;
mod step;
mod threads;
mod types;

pub use self::reducer::CodexExec;
