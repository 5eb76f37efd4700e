//! What several agents have in common in the way they write their logs: plain functions that executors
//! call.

pub(super) mod anthropic;
pub(super) mod counters;
pub(super) mod gemini;
pub(super) mod growing;
pub(super) mod jsonrpc;
pub(super) mod known;
pub(super) mod notice;
pub(super) mod permission;
pub(super) mod run_usage;
pub(super) mod streamed;
pub(super) mod told;
