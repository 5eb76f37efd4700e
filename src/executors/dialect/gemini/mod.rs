//! The tools of Google's Gemini CLI, and of Qwen Code, which descends from it.

mod action_mapper;

pub use self::action_mapper::map;
