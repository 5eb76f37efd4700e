//! The session of a rollout file: its facts, turns, tokens and preceding sessions; [`Step`]: a line during its
//! processing, and the state between lines.

use foldline_domain::{OF_THREAD, Warning, WarningKind};
use serde::{Deserialize, Serialize};

use super::{
    echoes::{Channel, EchoKind, Echoes},
    event::TurnEnd,
    limits::StatedLimit,
    line::UsageRecord,
    prompts::Held,
};
use crate::{
    codex::{Counter, result::CodexResult},
    dialect::recent_map::RecentMap,
    prelude::*,
};

/// The pause that ends a copied history. A copy is written at once: lines with the time of the copy are a few
/// milliseconds apart, and the next line needs a response of the model.
const LONGEST_PAUSE_MS: u64 = 1000;

/// The counts, for an identity.
fn counts(usage: &TokenUsage) -> String {
    let TokenUsage { input_tokens, output_tokens, cache_read_tokens, reasoning_tokens, .. } = usage;
    let counts = [input_tokens, cache_read_tokens, output_tokens, reasoning_tokens];
    counts.map(|count| count.unwrap_or_default().to_string()).join(".")
}

/// The name, unless it is too long to be remembered.
fn short(name: Option<Text>) -> Option<Text> {
    name.filter(|name| name.length() <= 100)
}

impl Step<'_, '_> {
    /// The first describes the session. One with another id describes a session from which it was forked, and that
    /// session's history follows.
    pub(super) fn session_meta(&mut self, facts: Session, forked: bool, start: Option<u64>) {
        let session = &mut self.memory.session;
        if session.has_meta {
            if facts.session_id != session.own_id {
                session.forked = true;
                session.replayed_at = self.cx.at;
            } else {
                self.cx.session(Session { version: facts.version, ..Session::default() });
            }
            return;
        }
        session.has_meta = true;
        (session.forked, session.start) = (forked, start);
        session.own_id.clone_from(&facts.session_id);
        session.began_at = facts.started_at.or(self.cx.at);
        self.cx.session(Session { started_at: session.began_at, ..facts });
    }

    /// Detects the end of a copied history. A line without a time also ends it: counting a token twice is better than
    /// never.
    pub(super) fn follow_replay(&mut self, ordinal: Option<u64>) {
        let session = &mut self.memory.session;
        session.is_before_start = ordinal.zip(session.start).is_some_and(|(at, start)| at < start);
        if let Some(last) = session.replayed_at {
            let pause = self.cx.at.and_then(|at| at.millis_since(last));
            let goes_on = pause.is_some_and(|pause| pause < LONGEST_PAUSE_MS);
            session.replayed_at = self.cx.at.filter(|_| goes_on);
        }
    }

    /// Whether the line is a copy. Copied lines that keep their times are older than the fork.
    fn is_replay(&self) -> bool {
        let session = &self.memory.session;
        let is_older = session.forked && self.cx.at.is_some() && self.cx.at < session.began_at;
        is_older || session.is_before_start || session.replayed_at.is_some()
    }

    pub(super) fn turn_started(&mut self) {
        if !self.is_replay() {
            self.memory.session.turns += 1;
        }
    }

    pub(super) fn turn_ended(&mut self, end: TurnEnd) {
        let TurnEnd { outcome, reason, last_words, error, duration_ms } = end;
        if let Some(words) = last_words {
            self.agent_message(Channel::TurnEnd, &words.into(), None, Vec::new());
        }
        if let Some(error) = error.clone() {
            self.error(Channel::TurnEnd, error, Vec::new());
        }
        let aborted = matches!(outcome, Some(Outcome::Cancelled | Outcome::LimitReached));
        if aborted && !self.is_echo(EchoKind::Notice, "turn aborted", Channel::Event) {
            let why = reason.as_ref().map(|reason| format!("turn aborted: {reason}"));
            let content = why.map_or_else(|| Text::from("turn aborted"), Text::from);
            self.cx.entry(NormalizedEntryType::SystemMessage, content, ());
        }
        if self.is_replay() {
            return;
        }
        let session = &mut self.memory.session;
        if let Some(duration_ms) = duration_ms {
            session.duration_ms =
                Some(session.duration_ms.unwrap_or(0).saturating_add(duration_ms));
        }
        let outcome = outcome.unwrap_or(Outcome::Success);
        // An earlier reason is outdated.
        let outdated = outcome == Outcome::Success && self.cx.known().outcome_reason.is_some();
        let outcome_reason =
            reason.or(error).or_else(|| outdated.then(|| Text::from("task complete")));
        let facts = Session {
            outcome: Some(outcome),
            outcome_reason,
            turns: Some(session.turns).filter(|&turns| turns > 0),
            duration_ms: session.duration_ms,
            ended_at: self.cx.at,
            ..Session::default()
        };
        self.cx.session(facts);
    }

    /// A copied history repeats older readings.
    pub(super) fn limits(&mut self, limits: Vec<StatedLimit>) {
        if !limits.is_empty() && !self.is_replay() {
            let at = self.cx.at;
            let limits = limits.into_iter().map(|limit| limit.read_at(at)).collect();
            self.cx.session(Session { limits: Some(limits), ..Session::default() });
        }
    }

    /// The settings of a turn.
    pub(super) fn turn_context(&mut self, turn_id: Option<Text>, settings: Session) {
        self.memory.session.models.push(short(turn_id), short(settings.model.clone()));
        self.cx.session(settings);
    }

    /// The usage of a response of the model. From the first one on, the totals of the thread say nothing more, and lack
    /// compactions.
    pub(super) fn usage_record(&mut self, record: UsageRecord) {
        let UsageRecord { thread_id, response_id, turn_id, usage } = record;
        let is_own = thread_id.is_some() && thread_id == self.memory.session.own_id;
        let replayed = !is_own && self.is_replay();
        let session = &mut self.memory.session;
        session.has_usage_records = true;
        let id = short(response_id.clone());
        if replayed || id.as_ref().is_some_and(|id| session.responses.get(id).is_some()) {
            return;
        }
        session.responses.push(id, ());
        let of_turn = turn_id.and_then(|turn_id| session.models.get(&turn_id).cloned()).flatten();
        let model = of_turn.or_else(|| self.cx.known().model.clone());
        self.usage(response_id, model, usage);
    }

    pub(super) fn token_count(&mut self, total: Option<TokenUsage>, last: Option<TokenUsage>) {
        let replayed = self.is_replay();
        let session = &mut self.memory.session;
        let of_last = || {
            let mut total = session.counter.total;
            total.add(&last?);
            Some(total)
        };
        let Some(total) = total.or_else(of_last).filter(|_| !session.has_usage_records) else {
            return;
        };
        if session.counter == Default::default()
            && let Some(last) = last
        {
            // The total includes earlier requests, which have no line in this file: those of its parent or of an earlier
            // page, or of the lines before its beginning.
            let before = session.counter.advance(total.since(&last), None);
            let is_lost = before.is_some() && !session.forked && !replayed;
            if is_lost && self.cx.known().parent.is_none() {
                let message =
                    "the log begins after other requests of its thread, which do not count";
                self.cx.warning(Warning::new(WarningKind::MissingBeginning, message));
            }
        }
        let session = &mut self.memory.session;
        let more = session.counter.advance(total, last);
        if let Some(usage) = more.filter(|_| !replayed) {
            // A fork may repeat the counts of its parent.
            let id = format!("{OF_THREAD}{}/{}", counts(&total), counts(&usage));
            self.usage(Some(id.into()), self.cx.known().model.clone(), usage);
        }
    }

    /// Reports the usage of a model. Other terms have other prices, so they are part of its name.
    fn usage(&mut self, request: Option<Text>, model: Option<Text>, usage: TokenUsage) {
        let model = match (model, self.memory.session.terms) {
            (Some(model), Some(Terms::Flex)) => Some(format!("{model} flex").into()),
            (Some(model), Some(Terms::Priority)) => Some(format!("{model} priority").into()),
            (model, _) => model,
        };
        self.cx.usage_of_message(request, model, usage);
    }
}

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CodexRolloutMemory {
    pub(super) session: SessionMemory,
    pub(super) echoes: Echoes,
    /// Messages with the role of the user, until the next line.
    #[serde(default)]
    pub(super) held: Vec<Held>,
    /// Whether events or items state which messages a person typed.
    #[serde(default)]
    pub(super) states_prompts: bool,
    /// The number of calls without an id.
    pub(super) unnamed: u64,
}

/// Facts about the session of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SessionMemory {
    /// The file's own `session_meta`: the first.
    pub(super) own_id: Option<SessionId>,
    pub(super) has_meta: bool,
    /// Whether it begins with the history of another session.
    pub(super) forked: bool,
    /// The number of the first record that is not copied, if the file states it.
    #[serde(default)]
    pub(super) start: Option<u64>,
    /// Whether this record is before it.
    #[serde(default)]
    pub(super) is_before_start: bool,
    /// The start of the file's own session.
    pub(super) began_at: Option<Timestamp>,
    /// The time of the last line of a copied history.
    pub(super) replayed_at: Option<Timestamp>,
    pub(super) counter: Counter,
    /// Whether the file states the usage of each response.
    #[serde(default)]
    pub(super) has_usage_records: bool,
    /// The ids of the latest responses.
    #[serde(default)]
    pub(super) responses: RecentMap<Text, ()>,
    /// The models of the latest turns.
    #[serde(default)]
    pub(super) models: RecentMap<Text, Option<Text>>,
    /// The terms of the price of the next requests.
    #[serde(default)]
    pub(super) terms: Option<Terms>,
    pub(super) turns: u64,
    pub(super) duration_ms: Option<u64>,
}

/// Terms of a price other than the usual ones: a service tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Terms {
    Flex,
    Priority,
}

impl Terms {
    /// `fast` is the client's name for `priority`.
    pub(super) fn of_tier(tier: &str) -> Option<Self> {
        match tier {
            "flex" => Some(Self::Flex),
            "fast" | "priority" => Some(Self::Priority),
            _ => None,
        }
    }
}

/// A line during its processing.
pub(super) struct Step<'s, 'c> {
    pub(super) memory: &'s mut CodexRolloutMemory,
    pub(super) cx: &'s mut Context<'c, CodexResult>,
}

impl Step<'_, '_> {
    /// Whether this item appeared before on another channel.
    pub(super) fn is_echo(&mut self, kind: EchoKind, words: &str, channel: Channel) -> bool {
        self.memory.echoes.is_echo(kind, words, channel)
    }
}
