//! The stream of `claude -p --output-format stream-json --verbose`.

mod event;
mod outcome;
mod recognise;
mod reducer;
mod run_result;
mod streamed;
mod types;

pub use self::{
    event::{Delta, PartialEvent},
    reducer::{ClaudeStream, ClaudeStreamMemory},
    run_result::{Denial, RunResult},
    types::{ClaudeStreamJson, Init, RateLimit, System, Task, UserExtras},
};
