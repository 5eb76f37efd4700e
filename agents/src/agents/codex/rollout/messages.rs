//! Messages in a rollout file: of the agent, other agents and the program.

use super::{
    echoes::{self, Channel, EchoKind},
    item::{AgentMessage, Message},
    prompts::{Author, Prompt},
    session::Step,
};
use crate::{content::Blocks, prelude::*};

impl Step<'_, '_> {
    /// Reports unknown blocks.
    pub(super) fn blocks(&mut self, content: &Blocks) {
        for (name, block) in &content.unknown {
            self.cx.unknown_block(name, block.clone());
        }
    }

    pub(super) fn message(&mut self, message: Message<'_>, mut extra: Extra) {
        let Message { role, id, content, context } = message;
        match &*role {
            "user" => {
                let author = if context.is_some() { Author::Person } else { Author::Unstated };
                let is_context = content.parts.is_empty();
                if let Some(content) = context.filter(|context| *context != Blocks::default()) {
                    let id = id.clone().filter(|_| is_context);
                    let prompt = Prompt { id, content, author: Author::Program };
                    self.user_message(Channel::Item, prompt, std::mem::take(&mut extra));
                }
                self.user_message(Channel::Item, Prompt { id, content, author }, extra);
            }
            "assistant" => self.agent_message(Channel::Item, &content, id, extra),
            // Context that the program gives to the model.
            role => {
                self.blocks(&content);
                extra.push(("role".to_owned(), Json::from(Text::from(role))));
                self.cx.entry(NormalizedEntryType::SystemMessage, content.content(), (id, extra));
            }
        }
    }

    pub(super) fn agent_message(
        &mut self,
        channel: Channel,
        content: &Blocks,
        id: Option<Text>,
        extra: Extra,
    ) {
        self.blocks(content);
        let said = content.content();
        let prints = echoes::prints(EchoKind::Agent, &content.words().decode(), id.as_ref());
        if !said.is_empty() && !self.memory.echoes.is_echo_of(&prints, channel) {
            self.cx.entry(NormalizedEntryType::AssistantMessage, said, (id, extra));
        }
    }

    pub(super) fn thoughts(&mut self, channel: Channel, id: Option<Text>, thoughts: Vec<Text>) {
        let mut thoughts = thoughts;
        thoughts.retain(|thought| !thought.is_empty());
        let id = id.filter(|_| !thoughts.is_empty());
        let is_told = id.is_some_and(|id| self.is_echo(EchoKind::Id, &id.decode(), channel));
        for thought in thoughts {
            if !self.is_echo(EchoKind::Thought, &thought.decode(), channel) && !is_told {
                self.cx.entry(NormalizedEntryType::Thinking, thought, ());
            }
        }
    }

    /// Emits a message between agents, which is neither a prompt nor an answer.
    pub(super) fn between_agents(
        &mut self,
        channel: Channel,
        message: AgentMessage,
        mut extra: Extra,
    ) {
        let AgentMessage { author, recipient, content } = message;
        self.blocks(&content);
        let known = [("author", author), ("recipient", recipient)];
        extra.extend(
            known.into_iter().filter_map(|(name, who)| Some((name.to_owned(), who?.into()))),
        );
        self.notice(channel, content.content(), extra);
    }

    /// Emits a message of the program.
    pub(super) fn notice(&mut self, channel: Channel, said: impl Into<Content>, extra: Extra) {
        let said = said.into();
        if said.is_empty() || !self.is_echo(EchoKind::Notice, &said.text.decode(), channel) {
            self.cx.entry(NormalizedEntryType::SystemMessage, said, extra);
        }
    }

    pub(super) fn error(&mut self, channel: Channel, message: Text, extra: Extra) {
        if !self.is_echo(EchoKind::Error, &message.decode(), channel) {
            self.cx.entry(NormalizedEntryType::ErrorMessage, message, extra);
        }
    }

    /// Emits the summary of a compaction; the replaced history is kept.
    pub(super) fn compacted(&mut self, channel: Channel, summary: Text) {
        let told = self.is_echo(EchoKind::Compaction, "", channel);
        let (kind, content) = match (told, summary.is_empty()) {
            (true, true) => return,
            (true, false) => (NormalizedEntryType::SystemMessage, summary),
            (false, true) => (NormalizedEntryType::Compaction, "context compacted".into()),
            (false, false) => {
                let content = format!("context compacted\n{summary}");
                (NormalizedEntryType::Compaction, Text::from(content))
            }
        };
        self.cx.entry(kind, content, ());
    }
}
