//! The tools of Google's Gemini CLI and of its fork Qwen Code.

mod action_mapper;

pub use self::action_mapper::map;
