//! The token usage of sessions, and its cost.
//!
//! A database answers with the usage of its sessions ([`usage`](crate::Store#method.usage)), in which [`count_once`]
//! counts each message once, as the view `usage` does. [`UsageEmitter`] collects the same of one log without a database.

mod lineage;
mod once;
mod priced;

use std::{collections::BTreeMap, convert::Infallible};

use foldhash::HashMap;
use foldline::transduce::{Batch, Emitter, Resume};
use foldline_domain::{
    DomainEvent, Located, SessionId, SessionKey, Text, Timestamp, TokenUsage,
    pricing::{Cost, Prices, Requests},
};
use serde::{Deserialize, Serialize};

pub use self::once::count_once;
pub use self::priced::{PricedMessage, RootSession, UsageSum, all_tokens, priced};

/// The token usage of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionUsage {
    /// The agent's own id of the session.
    pub session_id: Option<SessionId>,
    /// The session from which it was started, as a sub-agent or a fork.
    pub parent_session_id: Option<SessionId>,
    /// The session that a person began, of which it is a part; of one log, the one that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_session_id: Option<SessionId>,
    /// Its beginning, as the log states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// The agent.
    pub agent: Option<Text>,
    /// Its project; of one log, the folder that the agent worked in.
    pub project: Option<Text>,
    /// The branch in that directory.
    pub branch: Option<Text>,
    /// The task of the session, which only a database states.
    pub task: Option<Text>,
    /// The machine of its log, which only a database states.
    #[serde(default)]
    pub host: Option<Text>,
    /// The user whose log it is there, which only a database states.
    #[serde(default)]
    pub user: Option<Text>,
    /// Whether the question is about the session. The others tell where a message counts, and who began a session.
    pub is_chosen: bool,
    /// The tokens, in the order of the log.
    pub messages: Vec<MessageUsage>,
}

/// The token usage of one message, or of several messages that no other log contains.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MessageUsage {
    /// The message, model and time of the usage.
    pub of: UsedFor,
    /// The tokens and the cost.
    pub usage: TokenUsage,
    /// Whether the log of its tree states the cost of all that was used at this time, as the view `windowed_usage` decides.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_in_window: bool,
}

/// The key by which token usage is summed.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UsedFor {
    /// The message, if other logs may contain it.
    pub message_id: Option<String>,
    /// The model, if the log names it.
    pub model: Option<String>,
    /// The time, if the log states it.
    pub at: Option<Timestamp>,
}

impl UsedFor {
    /// As an event states it.
    pub(super) fn stated(
        message_id: Option<Text>,
        model: Option<Text>,
        at: Option<Timestamp>,
    ) -> Self {
        let text = |text: Option<Text>| text.map(Text::into_string).filter(|text| !text.is_empty());
        Self { message_id: text(message_id), model: text(model), at }
    }
}

impl MessageUsage {
    /// Token usage with its key.
    pub fn new(of: UsedFor, usage: TokenUsage) -> Self {
        Self { of, usage, is_in_window: false }
    }

    /// The cost, as stated by the log or computed from the model's price. Usage without a message id may cover any
    /// number of requests.
    pub fn cost(&self, prices: &Prices) -> Option<Cost> {
        let requests = if self.of.message_id.is_some() { Requests::One } else { Requests::Several };
        prices.cost(self.of.model.as_deref().unwrap_or_default(), &self.usage, requests, self.of.at)
    }
}

/// Collects the token usage of the sessions of a log.
#[derive(Clone, Debug, Default)]
pub struct UsageEmitter {
    sessions: BTreeMap<SessionKey, SessionUsage>,
    /// The indices of the messages of a session.
    places: HashMap<(SessionKey, UsedFor), usize>,
}

impl UsageEmitter {
    /// The sessions, in the order in which they began.
    pub fn into_sessions(self) -> Vec<SessionUsage> {
        self.sessions.into_values().collect()
    }

    fn session(&mut self, key: SessionKey) -> &mut SessionUsage {
        let new = || SessionUsage { is_chosen: true, ..SessionUsage::default() };
        self.sessions.entry(key).or_insert_with(new)
    }

    fn count(&mut self, session: SessionKey, of: UsedFor, usage: &TokenUsage) {
        let place = (session, of);
        let known = self.places.get(&place).copied();
        let SessionUsage { messages, .. } = self.session(session);
        match known.and_then(|at| messages.get_mut(at)) {
            Some(message) => message.usage.add(usage),
            None => {
                let at = messages.len();
                messages.push(MessageUsage::new(place.1.clone(), *usage));
                self.places.insert(place, at);
            }
        }
    }
}

fn is_false(is: &bool) -> bool {
    !is
}

fn take<T: Clone>(fact: &mut Option<T>, news: &Option<T>) {
    if news.is_some() {
        fact.clone_from(news);
    }
}

impl Emitter<Located<DomainEvent>, Infallible> for UsageEmitter {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Infallible> {
        match &event.item {
            DomainEvent::Session(news) => {
                let session = self.session(event.session);
                take(&mut session.session_id, &news.session_id);
                take(&mut session.parent_session_id, &news.parent_session_id().cloned());
                let whole = news.parent.as_ref().filter(|parent| parent.relation.is_part());
                let whole = whole.map(|parent| parent.session_id.clone());
                take(&mut session.root_session_id, &whole);
                take(&mut session.agent, &news.agent);
                take(&mut session.project, &news.cwd);
                take(&mut session.branch, &news.branch);
            }
            DomainEvent::Usage { usage, model, message_id, timestamp } => {
                let of = UsedFor::stated(message_id.clone(), model.clone(), *timestamp);
                self.count(event.session, of, usage);
            }
            _ => {}
        }
        Batch::EMPTY
    }
}

impl Resume for UsageEmitter {
    type State = BTreeMap<SessionKey, SessionUsage>;

    fn state(&self) -> Self::State {
        self.sessions.clone()
    }

    fn resume(&mut self, state: Self::State) {
        self.places = state
            .iter()
            .flat_map(|(session, used)| {
                let messages = used.messages.iter().enumerate();
                messages.map(move |(at, message)| ((*session, message.of.clone()), at))
            })
            .collect();
        self.sessions = state;
    }
}
