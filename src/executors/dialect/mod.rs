//! What several agents have in common in the way they write their logs: plain functions and small values that executors
//! call, those of another crate too. An executor takes what fits, and reads the rest itself.

pub mod anthropic;
pub mod counters;
pub mod gemini;
pub mod growing;
pub mod jsonrpc;
pub mod notice;
pub mod permission;
pub mod recent_map;
pub mod run_usage;
pub mod streamed;
pub mod textual_result;
