//! [`Authority`]: what an agent may do without asking.

use foldline::position::Timestamp;
use foldline_json::Text;
use serde::{Deserialize, Serialize};

/// What an agent may do without asking a person, as its log states it. A later statement replaces an earlier one as a
/// whole. Fields may be added: end a literal with `..Authority::default()`.
///
/// ```
/// use foldline_domain::{Allowed, Authority};
///
/// let authority = Authority::of_mode("bypassPermissions".into());
/// assert_eq!(authority.allowed, Some(Allowed::Everything));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Authority {
    /// The permission mode, in the agent's own words: `acceptEdits`, `yolo`, `auto-low`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<Text>,
    /// When the agent asks, in its own words: `never`, `on-request`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_policy: Option<Text>,
    /// The sandbox of its commands, in its own words: `read-only`, `workspace-write`, `danger-full-access`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Text>,
    /// What these allow, in one vocabulary; `None` if unmapped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<Allowed>,
    /// The time at which the log states this, if it does. Some logs state it only by the position of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

impl Authority {
    /// The authority of a permission mode, whose words several agents share.
    pub fn of_mode(mode: Text) -> Self {
        let allowed = Allowed::by_mode(&mode.decode());
        Self { permission_mode: Some(mode), allowed, ..Self::default() }
    }

    /// Whether both allow the same, whenever they were stated.
    pub fn is_same(&self, other: &Self) -> bool {
        let words = |authority: &Self| {
            let Self { permission_mode, approval_policy, sandbox, allowed, since: _ } = authority;
            (permission_mode.clone(), approval_policy.clone(), sandbox.clone(), *allowed)
        };
        words(self) == words(other)
    }

    /// The agent's words in one line: `approval never, sandbox danger-full-access`.
    pub fn words(&self) -> String {
        let named = [
            ("", &self.permission_mode),
            ("approval ", &self.approval_policy),
            ("sandbox ", &self.sandbox),
        ];
        let stated = named
            .iter()
            .filter_map(|(name, words)| Some(format!("{name}{}", words.as_ref()?.decode())));
        stated.collect::<Vec<_>>().join(", ")
    }

    pub(super) fn texts(&self) -> [Option<&Text>; 3] {
        [&self.permission_mode, &self.approval_policy, &self.sandbox].map(Option::as_ref)
    }
}

/// What an agent may do without asking a person, in one vocabulary for all agents, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Allowed {
    /// It reads, and may change nothing.
    Reading,
    /// It reads, and asks before it changes something or runs a command.
    Asking,
    /// It edits files, and asks before it runs a command.
    Edits,
    /// It does anything within a sandbox.
    Sandbox,
    /// A policy or a model decides about what it asks.
    Policy,
    /// It does anything.
    Everything,
}

impl Allowed {
    /// The serialised name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Asking => "asking",
            Self::Edits => "edits",
            Self::Sandbox => "sandbox",
            Self::Policy => "policy",
            Self::Everything => "everything",
        }
    }

    /// What a permission mode allows, by the words that agents use for theirs.
    pub fn by_mode(mode: &str) -> Option<Self> {
        Some(match mode {
            "plan" | "spec" | "read-only" => Self::Reading,
            "default" | "ask" | "normal" | "off" | "manual" => Self::Asking,
            "acceptEdits" | "auto-edit" | "autoEdit" | "auto-low" | "low" => Self::Edits,
            "auto" | "auto-medium" | "medium" => Self::Policy,
            "bypassPermissions" | "yolo" | "auto-high" | "high" => Self::Everything,
            _ => return None,
        })
    }
}
