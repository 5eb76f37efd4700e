//! The supported agents, one folder each. None depends on another.

#[macro_use]
mod editors;

pub mod acp;
pub mod amp;
pub mod antigravity;
pub mod atif;
pub mod claude;
pub mod cline;
pub mod codex;
pub mod copilot;
pub mod copilot_chat;
pub mod cursor;
pub mod droid;
pub mod gemini;
pub mod goose;
pub mod grok;
pub mod hermes;
pub mod kimi;
pub mod opencode;
pub mod pi;
pub mod qwen;
pub mod zed;
