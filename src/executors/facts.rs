//! [`Facts`]: what a log has said of its session so far.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::report;
use crate::{
    conversation::{DomainEvent, NormalizedEntryType, Session, Text, Timestamp},
    transduce::Batch,
};

/// What a log has said of its session so far, so that only news is passed on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Everything known, except the list of tools, which may be long.
    session: Session,
    introduced: bool,
}

impl Facts {
    /// Everything known, except the list of tools.
    pub fn known(&self) -> &Session {
        &self.session
    }

    /// The directory that the agent works in.
    pub fn cwd(&self) -> Option<Cow<'_, str>> {
        self.session.cwd.as_ref().map(Text::decode)
    }

    /// States facts about the session, if they are news. The first time, `agent` is one of them.
    pub fn learn(&mut self, agent: &str, news: Session, events: &mut Batch<DomainEvent>) {
        if self.introduced && news == Session::default() {
            return;
        }
        let mut known = self.session.clone();
        known.merge(&news);
        if known != self.session || !self.introduced {
            let agent = (!self.introduced).then(|| Text::from(agent));
            self.introduced = true;
            self.session = Session { tools: None, ..known };
            events.push(DomainEvent::Session(Box::new(Session { agent, ..news })));
        }
    }

    /// States facts with the model among them; a model that is another than before is also an entry
    /// of the conversation.
    pub fn learn_model(
        &mut self,
        agent: &str,
        news: Session,
        at: Option<Timestamp>,
        events: &mut Batch<DomainEvent>,
    ) {
        let model = news.model.clone().filter(|model| self.session.model.as_ref() != Some(model));
        self.learn(agent, news, events);
        if let Some(model) = model {
            let content = format!("model: {model}");
            events.push(report::said(NormalizedEntryType::SystemMessage, content, at));
        }
    }
}
