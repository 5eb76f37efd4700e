//! [`Facts`]: what is known of a session so far.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{
    conversation::{DomainEvent, Session, Text},
    transduce::Batch,
};

/// What is known of a session so far, so that only changes become events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Facts {
    /// Everything known, except the list of tools, which may be long.
    session: Session,
    introduced: bool,
}

impl Facts {
    /// Everything known, except the list of tools.
    pub(super) fn known(&self) -> &Session {
        &self.session
    }

    /// The directory that the agent works in.
    pub(super) fn cwd(&self) -> Option<Cow<'_, str>> {
        self.session.cwd.as_ref().map(Text::decode)
    }

    /// An event says who the agent is, unless that was said.
    pub(super) fn introduce(&mut self, agent: &str, events: &mut Batch<DomainEvent>) {
        if !self.introduced {
            self.merge(agent, Session::default(), events);
        }
    }

    /// Merges facts into what is known; an event says what changed. The first time, `agent` is one of
    /// the facts, unless the log names another one.
    pub(super) fn merge(&mut self, agent: &str, facts: Session, events: &mut Batch<DomainEvent>) {
        if self.introduced && facts == Session::default() {
            return;
        }
        let mut known = self.session.clone();
        known.merge(&facts);
        if known != self.session || !self.introduced {
            let agent = || (!self.introduced).then(|| Text::from(agent));
            let agent = facts.agent.clone().or_else(agent);
            self.introduced = true;
            self.session = Session { tools: None, ..known };
            events.push(DomainEvent::Session(Box::new(Session { agent, ..facts })));
        }
    }
}
