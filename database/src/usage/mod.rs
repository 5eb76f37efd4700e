//! [`UsageEmitter`]: the token usage of each message, by session.
//!
//! It collects the content of the database table `message_usage` without a database. [`count_once`] implements the rule
//! of the view `usage` for the sessions of any number of logs, and [`join_companions`] that of logs of one session.

mod companions;
mod priced;

use std::{collections::BTreeMap, convert::Infallible};

use foldhash::HashMap;
use foldline::transduce::{Batch, Emitter, Resume};
use foldline_domain::{
    CorrId, DomainEvent, Located, NormalizedEntry, NormalizedEntryType, SessionId, SessionKey,
    Text, Timestamp, TokenUsage,
    pricing::{Cost, Prices, Requests},
    title::Title,
};
use serde::{Deserialize, Serialize};

pub use self::companions::join_companions;
pub use self::priced::{PricedMessage, RootSession, UsageSum, all_tokens, priced};

/// The token usage of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionUsage {
    /// The agent's own id of the session.
    pub session_id: Option<SessionId>,
    /// The session that started it as a sub-agent or a fork.
    pub parent_session_id: Option<SessionId>,
    /// The agent.
    pub agent: Option<Text>,
    /// The agent's working directory.
    pub cwd: Option<Text>,
    /// The branch in that directory.
    pub branch: Option<Text>,
    /// The task of the session: its own id, unless a database states another task.
    #[serde(default)]
    pub task: Option<Text>,
    /// Its title, or else the line of the first prompt that says what it is about.
    #[serde(default)]
    pub title: Option<String>,
    /// The number of its entries.
    #[serde(default)]
    pub entries: u64,
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
}

/// The key by which token usage is summed.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UsedFor {
    /// The message, if other logs may contain it.
    pub message_id: Option<String>,
    /// The model, if the log names it.
    pub model: Option<String>,
    /// The time, if the log states it; [`UsageEmitter`] sets its precision.
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
        Self { of, usage }
    }

    /// The cost, as stated by the log or computed from the model's price. Usage without a message id may cover any
    /// number of requests.
    pub fn cost(&self, prices: &Prices) -> Option<Cost> {
        let requests = if self.of.message_id.is_some() { Requests::One } else { Requests::Several };
        prices.cost(self.of.model.as_deref().unwrap_or_default(), &self.usage, requests)
    }
}

/// Collects the token usage of the sessions of a log.
///
/// Times are rounded down to a quarter of an hour, as in a database ([`Timestamp::quarter_hour`]);
/// [`UsageEmitter::exact`] keeps them.
#[derive(Clone, Debug, Default)]
pub struct UsageEmitter {
    sessions: BTreeMap<SessionKey, SessionUsage>,
    titles: BTreeMap<SessionKey, Title>,
    /// Prompts that grow.
    growing: BTreeMap<(SessionKey, CorrId), String>,
    is_exact: bool,
    /// The indices of the messages of a session.
    places: HashMap<(SessionKey, UsedFor), usize>,
}

/// The state of a [`UsageEmitter`].
type UsageState = (
    BTreeMap<SessionKey, SessionUsage>,
    BTreeMap<SessionKey, Title>,
    Vec<((SessionKey, CorrId), String)>,
);

impl UsageEmitter {
    /// An emitter that keeps the times of the log in milliseconds.
    #[must_use]
    pub fn exact() -> Self {
        Self { is_exact: true, ..Self::default() }
    }

    /// The sessions, in the order in which they began.
    pub fn into_sessions(mut self) -> Vec<SessionUsage> {
        for (key, title) in self.titles {
            if let Some(session) = self.sessions.get_mut(&key) {
                session.title = title.get().map(str::to_owned);
            }
        }
        self.sessions.into_values().collect()
    }

    /// Takes what a session may be called by.
    fn name(&mut self, key: SessionKey, event: &DomainEvent) {
        let is_prompt =
            |entry: &NormalizedEntry| entry.entry_type == NormalizedEntryType::UserMessage;
        match event {
            DomainEvent::Session(news) => {
                let title = news.title.as_ref();
                title
                    .into_iter()
                    .for_each(|title| self.titles.entry(key).or_default().state(&title.decode()));
            }
            DomainEvent::NewEntry { entry } if is_prompt(entry) => {
                self.titles.entry(key).or_default().ask(&entry.content.decode());
            }
            DomainEvent::OpenEntry { corr_id, entry } if is_prompt(entry) => {
                let text = entry.content.decode().into_owned();
                self.growing.entry((key, corr_id.clone())).or_insert(text);
            }
            DomainEvent::GrowEntry { corr_id, text: more } => {
                if let Some(text) = self.growing.get_mut(&(key, corr_id.clone())) {
                    text.push_str(&more.decode());
                }
            }
            DomainEvent::CloseEntry { corr_id, entry } => {
                let Some(text) = self.growing.remove(&(key, corr_id.clone())) else { return };
                let text = entry.as_ref().map_or(text, |entry| entry.content.decode().into_owned());
                self.titles.entry(key).or_default().ask(&text);
            }
            _ => {}
        }
    }

    fn count(&mut self, session: SessionKey, of: UsedFor, usage: &TokenUsage) {
        let place = (session, of);
        let SessionUsage { messages, .. } = self.sessions.entry(session).or_default();
        let known = self.places.get(&place);
        match known.and_then(|at| messages.get_mut(*at)) {
            Some(message) => message.usage.add(usage),
            None => {
                let at = messages.len();
                messages.push(MessageUsage::new(place.1.clone(), *usage));
                self.places.insert(place, at);
            }
        }
    }
}

fn take<T: Clone>(fact: &mut Option<T>, news: &Option<T>) {
    if news.is_some() {
        fact.clone_from(news);
    }
}

impl Emitter<Located<DomainEvent>, Infallible> for UsageEmitter {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<Infallible> {
        self.name(event.session, &event.item);
        match &event.item {
            DomainEvent::Session(news) => {
                let session = self.sessions.entry(event.session).or_default();
                take(&mut session.session_id, &news.session_id);
                session.task = session.session_id.as_ref().map(|id| id.as_str().into());
                take(&mut session.parent_session_id, &news.parent_session_id);
                take(&mut session.agent, &news.agent);
                take(&mut session.cwd, &news.cwd);
                take(&mut session.branch, &news.branch);
            }
            DomainEvent::Usage { usage, model, message_id, timestamp } => {
                let at = match self.is_exact {
                    true => *timestamp,
                    false => timestamp.map(Timestamp::quarter_hour),
                };
                let of = UsedFor::stated(message_id.clone(), model.clone(), at);
                self.count(event.session, of, usage);
            }
            DomainEvent::NewEntry { .. }
            | DomainEvent::OpenEntry { .. }
            | DomainEvent::NewToolCall { .. } => {
                self.sessions.entry(event.session).or_default().entries += 1;
            }
            _ => {}
        }
        Batch::EMPTY
    }
}

impl Resume for UsageEmitter {
    type State = UsageState;

    fn state(&self) -> UsageState {
        (self.sessions.clone(), self.titles.clone(), self.growing.clone().into_iter().collect())
    }

    fn resume(&mut self, state: UsageState) {
        let (sessions, titles, growing) = state;
        (self.sessions, self.titles) = (sessions, titles);
        self.growing = growing.into_iter().collect();
        self.places = self
            .sessions
            .iter()
            .flat_map(|(session, used)| {
                let messages = used.messages.iter().enumerate();
                messages.map(move |(at, message)| ((*session, message.of.clone()), at))
            })
            .collect();
    }
}

/// Counts each message once, in the session with the most output tokens for it (the first of several), and removes it
/// from the others. A resumed session repeats the messages of its predecessor, and a sub-agent's messages are also in
/// the file of the session that started it.
pub fn count_once<'s>(sessions: impl IntoIterator<Item = &'s mut SessionUsage>) {
    let mut sessions: Vec<_> = sessions.into_iter().collect();
    // Each id is numbered, so that it is hashed only once.
    let mut numbers: HashMap<&str, usize> = HashMap::default();
    let mut numbered = Vec::new();
    // By number: the last session that has the message with its output tokens, and the best session.
    let mut told: Vec<(usize, Option<u64>)> = Vec::new();
    let mut best: Vec<(usize, Option<u64>)> = Vec::new();
    for (session, used) in sessions.iter().enumerate() {
        let mut here = Vec::new();
        for MessageUsage { of, usage } in &used.messages {
            let number = of.message_id.as_deref().map(|id| {
                let next = numbers.len();
                *numbers.entry(id).or_insert(next)
            });
            numbered.push(number);
            let Some(number) = number else { continue };
            if number == told.len() {
                told.push((usize::MAX, None));
                best.push((session, None));
            }
            let (teller, output) = &mut told[number];
            if *teller != session {
                (*teller, *output) = (session, None);
                here.push(number);
            }
            *output = match (*output, usage.output_tokens) {
                (Some(output), Some(more)) => Some(output.saturating_add(more)),
                (output, more) => output.or(more),
            };
        }
        for number in here {
            let (_, output) = told[number];
            if output > best[number].1 {
                best[number] = (session, output);
            }
        }
    }
    let mut numbered = numbered.into_iter();
    for (session, used) in sessions.iter_mut().enumerate() {
        used.messages
            .retain(|_| numbered.next().flatten().is_none_or(|number| best[number].0 == session));
    }
}
