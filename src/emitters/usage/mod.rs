//! [`UsageEmitter`]: the tokens of each message, and the sessions that they were used in.
//!
//! It keeps what the table `message_usage` of a database keeps, without a database: [`count_once`] is the rule of
//! the view `usage`, for the sessions of any number of logs.

#[cfg(feature = "pricing")]
mod priced;

use std::{
    collections::{BTreeMap, HashMap},
    convert::Infallible,
};

use serde::{Deserialize, Serialize};

#[cfg(feature = "pricing")]
pub use self::priced::{PricedMessage, RootSession, UsageSum, all_tokens, priced};
#[cfg(feature = "pricing")]
use crate::pricing::{Cost, Prices, Requests};
use crate::{
    conversation::{
        CorrId, DomainEvent, Located, NormalizedEntry, NormalizedEntryType, SessionId, SessionKey,
        Text, Timestamp, TokenUsage,
    },
    emitters::title::Title,
    transduce::{Batch, Emitter, Resume},
};

/// What was used in a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionUsage {
    /// The agent's own id of the session.
    pub session_id: Option<SessionId>,
    /// The session that started it, as a sub-agent or a fork.
    pub parent_session_id: Option<SessionId>,
    /// Which agent.
    pub agent: Option<Text>,
    /// The directory that the agent works in.
    pub cwd: Option<Text>,
    /// The branch there.
    pub branch: Option<Text>,
    /// The task that it belongs to: its own id, unless a database states another one.
    #[serde(default)]
    pub task: Option<Text>,
    /// Its title, or else the line of the first prompt that says what it is about.
    #[serde(default)]
    pub title: Option<String>,
    /// The tokens, in the order of the log.
    pub messages: Vec<MessageUsage>,
}

/// Tokens that were used for one message, or for several that no other log tells of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MessageUsage {
    /// What they were used for.
    pub of: UsedFor,
    /// The tokens and the cost.
    pub usage: TokenUsage,
}

/// What tokens are added up by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UsedFor {
    /// The message, if other logs may tell of it.
    pub message_id: Option<String>,
    /// The model, if the log names it.
    pub model: Option<String>,
    /// When, if the log states it; see [`UsageEmitter`] for how exactly.
    pub at: Option<Timestamp>,
}

impl MessageUsage {
    /// Tokens that were used for something.
    pub fn new(of: UsedFor, usage: TokenUsage) -> Self {
        Self { of, usage }
    }

    /// What they cost, as the log states or by the price of the model. Without the id of a message, they may be of any
    /// number of requests.
    #[cfg(feature = "pricing")]
    pub fn cost(&self, prices: &Prices) -> Option<Cost> {
        let requests = if self.of.message_id.is_some() { Requests::One } else { Requests::Several };
        prices.cost(self.of.model.as_deref().unwrap_or_default(), &self.usage, requests)
    }
}

/// Collects what was used in the sessions of a log.
///
/// Moments are rounded down to a quarter of an hour, as those of a database are
/// ([`Timestamp::quarter_hour`]); [`UsageEmitter::exact`] keeps them.
#[derive(Clone, Debug, Default)]
pub struct UsageEmitter {
    sessions: BTreeMap<SessionKey, SessionUsage>,
    titles: BTreeMap<SessionKey, Title>,
    /// Prompts that grow.
    growing: Vec<(SessionKey, CorrId, String)>,
    is_exact: bool,
    /// Where the messages of a session are.
    places: HashMap<(SessionKey, UsedFor), usize>,
}

/// What a [`UsageEmitter`] remembers.
type UsageState = (
    BTreeMap<SessionKey, SessionUsage>,
    BTreeMap<SessionKey, Title>,
    Vec<(SessionKey, CorrId, String)>,
);

impl UsageEmitter {
    /// One that keeps moments as the log states them, in milliseconds.
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
                self.growing.push((key, corr_id.clone(), text));
            }
            DomainEvent::GrowEntry { corr_id, text: more } => {
                let mut growing = self.growing.iter_mut();
                if let Some((.., text)) = growing.find(|(of, id, _)| *of == key && id == corr_id) {
                    text.push_str(&more.decode());
                }
            }
            DomainEvent::CloseEntry { corr_id, entry } => {
                let at = self.growing.iter().position(|(of, id, _)| *of == key && id == corr_id);
                let Some((.., text)) = at.map(|at| self.growing.remove(at)) else { return };
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
                let text = |text: &Option<Text>| {
                    let text = text.as_ref().map(|text| text.decode().into_owned());
                    text.filter(|text| !text.is_empty())
                };
                let at = match self.is_exact {
                    true => *timestamp,
                    false => timestamp.map(Timestamp::quarter_hour),
                };
                let of = UsedFor { message_id: text(message_id), model: text(model), at };
                self.count(event.session, of, usage);
            }
            _ => {}
        }
        Batch::EMPTY
    }
}

impl Resume for UsageEmitter {
    type State = UsageState;

    fn state(&self) -> UsageState {
        (self.sessions.clone(), self.titles.clone(), self.growing.clone())
    }

    fn resume(&mut self, state: UsageState) {
        (self.sessions, self.titles, self.growing) = state;
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

/// Counts each message once, in the session that tells the most of it, the first of several: removes it from the
/// others. A session that was resumed repeats the messages of the one before, and a sub-agent's messages stand in
/// the file of the session that started it, too.
pub fn count_once<'s>(sessions: impl IntoIterator<Item = &'s mut SessionUsage>) {
    let mut sessions: Vec<_> = sessions.into_iter().collect();
    // Each id has a number, so that it is looked up once.
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut numbered = Vec::new();
    // By number: the output tokens that the session tells of which told of it last, and those of the best one.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn said(id: &str, output: u64) -> MessageUsage {
        let usage = TokenUsage { output_tokens: Some(output), ..TokenUsage::default() };
        MessageUsage::new(UsedFor { message_id: Some(id.to_owned()), ..UsedFor::default() }, usage)
    }

    #[test]
    fn a_message_counts_where_most_is_told_of_it() {
        let session = |messages: &[MessageUsage]| SessionUsage {
            messages: messages.to_vec(),
            ..SessionUsage::default()
        };
        let mut sessions = [
            session(&[said("a", 1), said("b", 5), said("a", 2)]),
            session(&[said("a", 4), said("b", 5)]),
        ];
        count_once(&mut sessions);
        let left = sessions.map(|session| session.messages);
        assert_eq!(left, [vec![said("b", 5)], vec![said("a", 4)]]);
    }

    #[test]
    fn each_session_has_the_facts_and_tokens_of_its_own_events() {
        use crate::conversation::{Position, Session};

        let facts = |id: &str, cwd: Option<&str>| {
            let session = Session {
                session_id: Some(id.into()),
                cwd: cwd.map(Text::from),
                ..Session::default()
            };
            DomainEvent::Session(Box::new(session))
        };
        let used = |millis| DomainEvent::Usage {
            usage: Box::new(said("", 1).usage),
            model: Some("m".into()),
            message_id: None,
            timestamp: Some(Timestamp::from_millis(millis)),
        };
        let events = [
            (0, facts("a", Some("/p"))),
            (0, used(1)),
            (1, facts("b", None)),
            (1, used(2)),
            (0, used(3)),
        ];
        let mut emitter = UsageEmitter::default();
        for (key, event) in events {
            let event = Located::new(Position::default(), event).in_session(SessionKey(key));
            drop(emitter.emit(&event));
        }
        let sessions: Vec<_> = emitter
            .into_sessions()
            .into_iter()
            .map(|session| {
                let output = session.messages.iter().map(|message| message.usage.output_tokens);
                (session.cwd, output.sum::<Option<u64>>())
            })
            .collect();
        assert_eq!(sessions, [(Some("/p".into()), Some(2)), (None, Some(1))]);
    }
}
