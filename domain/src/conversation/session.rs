//! [`Session`]: facts about the session as a whole; [`Authority`]: what its agent may do without asking.

use foldline::position::Timestamp;
use foldline_json::Text;
use serde::{Deserialize, Serialize};

use super::{
    id::{CorrId, SessionId},
    limit::{self, Limit},
};

/// Facts about a session. Each is `None` until the log states it. Fields may be added: end a
/// literal with `..Session::default()`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Session {
    /// The agent's id of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The agent: `droid`, `claude-code`, `codex`, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Text>,
    /// The agent's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Text>,
    /// The latest model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Text>,
    /// The provider of the model: `openai`, .. OpenTelemetry's `gen_ai.provider.name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<Text>,
    /// The configured reasoning effort of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<Text>,
    /// The directory that the agent works in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Text>,
    /// The latest version-control branch of that directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<Text>,
    /// What the agent may do without asking; the latest statement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authority: Option<Box<Authority>>,
    /// The limits of the account; the latest statement of each, by name. Statements add up: an update has the changed
    /// ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<Vec<Limit>>,
    /// The session's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// The last record of its log after which a conversation may end, by which other logs name the session. Only stated
    /// while no title is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaf: Option<CorrId>,
    /// Titles of the sessions with these records, which are in other logs. Statements add up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_titles: Option<Vec<RecordTitle>>,
    /// The names of the available tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Text>>,
    /// The session from which this one was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Box<Parent>>,
    /// The outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The reason for its end, in the log's own wording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome_reason: Option<Text>,
    /// The number of turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// The duration in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The time of its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// The time of its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

impl Session {
    /// Replaces every fact that `update` states; of the limits, those that are not older, of the titles of other sessions,
    /// those of the same records.
    pub fn merge(&mut self, update: &Self) {
        fn take<T: Clone>(fact: &mut Option<T>, update: &Option<T>) {
            if update.is_some() {
                fact.clone_from(update);
            }
        }
        take(&mut self.session_id, &update.session_id);
        take(&mut self.agent, &update.agent);
        take(&mut self.version, &update.version);
        take(&mut self.model, &update.model);
        take(&mut self.provider, &update.provider);
        take(&mut self.reasoning_effort, &update.reasoning_effort);
        take(&mut self.cwd, &update.cwd);
        take(&mut self.branch, &update.branch);
        take(&mut self.authority, &update.authority);
        limit::merge(&mut self.limits, &update.limits);
        take(&mut self.title, &update.title);
        take(&mut self.leaf, &update.leaf);
        RecordTitle::merge(&mut self.record_titles, &update.record_titles);
        take(&mut self.tools, &update.tools);
        take(&mut self.parent, &update.parent);
        take(&mut self.outcome, &update.outcome);
        take(&mut self.outcome_reason, &update.outcome_reason);
        take(&mut self.turns, &update.turns);
        take(&mut self.duration_ms, &update.duration_ms);
        take(&mut self.started_at, &update.started_at);
        take(&mut self.ended_at, &update.ended_at);
    }
}

impl Session {
    /// The agent's id of the session from which this one was started.
    pub fn parent_session_id(&self) -> Option<&SessionId> {
        Some(&self.parent.as_ref()?.session_id)
    }
}

/// The title of the session with a record, as another log states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordTitle {
    /// The id of the record.
    pub record: CorrId,
    /// The title.
    pub title: Text,
}

impl RecordTitle {
    /// The most titles of a value; logs state about a dozen. It bounds the memory that a hostile log can use.
    const MOST: usize = 256;

    /// Takes the latest title of each record, in the order of the records. Of too many, the first ones stay.
    fn merge(known: &mut Option<Vec<Self>>, update: &Option<Vec<Self>>) {
        for new in update.iter().flatten() {
            let known = known.get_or_insert_default();
            match known.binary_search_by(|it| it.record.cmp(&new.record)) {
                Ok(at) => known.iter_mut().skip(at).take(1).for_each(|old| old.clone_from(new)),
                Err(at) => known.insert(at, new.clone()),
            }
            known.truncate(Self::MOST);
        }
    }
}

/// The session from which another one was started, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Parent {
    /// The agent's id of that session.
    pub session_id: SessionId,
    /// How the session was started from it.
    pub relation: Relation,
    /// The call of that session that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corr_id: Option<CorrId>,
}

impl Parent {
    /// The parent of a sub-agent.
    pub fn of_agent(session_id: impl Into<SessionId>) -> Self {
        Self { session_id: session_id.into(), relation: Relation::SubAgent, corr_id: None }
    }

    /// The original of a fork.
    pub fn of_fork(session_id: impl Into<SessionId>) -> Self {
        Self { session_id: session_id.into(), relation: Relation::Fork, corr_id: None }
    }

    /// The session that a later log continues, under the same id or under another one.
    pub fn of_continuation(session_id: impl Into<SessionId>) -> Self {
        Self { session_id: session_id.into(), relation: Relation::Continuation, corr_id: None }
    }

    /// The same, with the call that started the session.
    #[must_use]
    pub fn with_call(mut self, corr_id: Option<CorrId>) -> Self {
        self.corr_id = corr_id;
        self
    }
}

/// How a session was started from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The agent delegated work to it: it is a part of the other session.
    SubAgent,
    /// The user went on from a copy of the other session: it is a session of its own.
    Fork,
    /// It is a later part of the other session, in a log of its own.
    Continuation,
}

impl Relation {
    /// The serialised name of this relation.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether it makes the session a part of the other one, rather than a session of its own.
    pub fn is_part(self) -> bool {
        self != Self::Fork
    }
}

/// The outcome of a session.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It succeeded, according to the agent.
    Success,
    /// It ended with an error.
    Failed,
    /// It reached a limit: turns, tokens, money, time.
    LimitReached,
    /// The user cancelled it.
    Cancelled,
}

impl Outcome {
    /// The serialised name of this outcome.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

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
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantNames,
)]
#[strum(serialize_all = "snake_case")]
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
    /// The serialised names, from the least to the most.
    pub const NAMES: &[&str] = <Self as strum::VariantNames>::VARIANTS;

    /// The serialised name.
    pub fn as_str(self) -> &'static str {
        self.into()
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
