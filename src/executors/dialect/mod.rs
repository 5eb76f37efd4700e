//! What several agents have in common in the way they write their logs: plain functions that executors
//! call.

pub(super) mod anthropic;
