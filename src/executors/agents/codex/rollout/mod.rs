//! Codex's rollout files: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`.
//!
//! The same thing is said up to three times in them: by a `response_item` (what the model was given
//! and gave), by an `event_msg` (what the program showed), and in the newest releases by an
//! `item_completed`. Which of them is there depends on the release and on where a file was cut, so
//! the first to come counts, whichever it is, and its echoes are left out ([`Echoes`](echoes::Echoes)).

mod calls;
mod echoes;
mod event;
mod item;
mod line;
mod messages;
mod recognise;
mod reducer;
mod session;
mod step;
mod token_count;
mod turn_context;

pub use self::reducer::CodexRollout;
