//! [`Format`]: the log formats that are told apart.

use std::fmt;

/// A log format of a coding agent. Not every one has an executor yet; see
/// [`Executor::of`](super::Executor::of).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Format {
    /// `droid exec --output-format stream-json`, and `-o json`.
    Droid,
    /// Droid's session files.
    DroidSession,
    /// `droid exec --output-format stream-jsonrpc`.
    DroidJsonRpc,
    /// `claude -p --output-format stream-json`.
    ClaudeStream,
    /// Claude Code's session files.
    ClaudeSession,
    /// `codex exec --json`.
    CodexExec,
    /// Codex's rollout files.
    CodexRollout,
    /// `gemini --output-format stream-json`.
    Gemini,
    /// `cursor-agent -p --output-format stream-json`.
    Cursor,
    /// `opencode run --format json`.
    Opencode,
    /// `amp --execute --stream-json`.
    Amp,
    /// `qwen -o stream-json`, and `-o json`.
    Qwen,
    /// Qwen Code's session files.
    QwenSession,
    /// GitHub Copilot CLI's session events.
    Copilot,
    /// The Agent Client Protocol.
    Acp,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 15] = [
        Self::Droid,
        Self::DroidSession,
        Self::DroidJsonRpc,
        Self::ClaudeStream,
        Self::ClaudeSession,
        Self::CodexExec,
        Self::CodexRollout,
        Self::Gemini,
        Self::Cursor,
        Self::Opencode,
        Self::Amp,
        Self::Qwen,
        Self::QwenSession,
        Self::Copilot,
        Self::Acp,
    ];

    /// The name that the program takes and prints.
    pub fn name(self) -> &'static str {
        match self {
            Self::Droid => "droid",
            Self::DroidSession => "droid-session",
            Self::DroidJsonRpc => "droid-jsonrpc",
            Self::ClaudeStream => "claude-stream",
            Self::ClaudeSession => "claude-session",
            Self::CodexExec => "codex-exec",
            Self::CodexRollout => "codex-rollout",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
            Self::Opencode => "opencode",
            Self::Amp => "amp",
            Self::Qwen => "qwen",
            Self::QwenSession => "qwen-session",
            Self::Copilot => "copilot",
            Self::Acp => "acp",
        }
    }

    /// The format with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// What the format is, for people.
    pub fn description(self) -> &'static str {
        match self {
            Self::Droid => "Factory Droid, stream-json",
            Self::DroidSession => "Factory Droid, session file",
            Self::DroidJsonRpc => "Factory Droid, stream-jsonrpc",
            Self::ClaudeStream => "Claude Code, stream-json",
            Self::ClaudeSession => "Claude Code, session file",
            Self::CodexExec => "Codex CLI, exec --json",
            Self::CodexRollout => "Codex CLI, rollout file",
            Self::Gemini => "Gemini CLI, stream-json",
            Self::Cursor => "Cursor agent, stream-json",
            Self::Opencode => "opencode, run --format json",
            Self::Amp => "Amp, stream-json",
            Self::Qwen => "Qwen Code, stream-json",
            Self::QwenSession => "Qwen Code, session file",
            Self::Copilot => "GitHub Copilot CLI, session events",
            Self::Acp => "Agent Client Protocol",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
