//! OpenAI's Codex CLI: the stream of `codex exec --json`, and its rollout files.

pub mod action_mapper;
mod case;
mod exec;
mod output;
mod result;
mod rollout;
pub mod tools;
mod usage;

pub use self::{
    exec::{CodexExecReducer, CodexExecState, ExecJson, ExecLine, Item, ItemKind, Phase},
    result::CodexResult,
    rollout::{
        CodexRolloutReducer, CodexRolloutState, Event, Message, ResponseItem, RolloutJson,
        RolloutLine, SessionMeta, TurnContext,
    },
    usage::{Counter, take_usage},
};

/// How the session's facts name the agent.
const AGENT: &str = "codex";
