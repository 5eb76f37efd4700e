//! [`Facts`]: the known facts of a session.

use std::borrow::Cow;

use foldline::transduce::Batch;
use foldline_domain::{DomainEvent, Session, Text};
use serde::{Deserialize, Serialize};

/// The known facts of a session, so that only changes become events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Facts {
    /// All facts except the list of tools, which may be long.
    session: Session,
    introduced: bool,
}

impl Facts {
    /// All facts except the list of tools.
    pub(super) fn known(&self) -> &Session {
        &self.session
    }

    /// The agent's working directory.
    pub(super) fn cwd(&self) -> Option<Cow<'_, str>> {
        self.session.cwd.as_ref().map(Text::decode)
    }

    /// Emits the agent's name, once.
    pub(super) fn introduce(&mut self, agent: &str, events: &mut Batch<DomainEvent>) {
        if !self.introduced {
            self.merge(agent, Session::default(), events);
        }
    }

    /// Merges facts and emits the changes as an event. The first event includes `agent`, unless the log names another
    /// agent.
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
