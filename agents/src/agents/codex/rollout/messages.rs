//! Messages in a rollout file: of the user, the agent, other agents and the program.

use super::{
    echoes::{Channel, EchoKind},
    session::Step,
};
use crate::{
    content::{Blocks, Part},
    prelude::*,
};

/// Elements that the program adds to user messages, in addition to those with `_` in their name.
const INJECTED: [&str; 3] = ["INSTRUCTIONS", "skill", "instructions"];

impl Step<'_, '_> {
    /// Reports unknown blocks.
    pub(super) fn blocks(&mut self, content: &Blocks) {
        for (name, block) in &content.unknown {
            self.cx.unknown_block(name, block.clone());
        }
    }

    pub(super) fn message(
        &mut self,
        role: &str,
        id: Option<Text>,
        content: &Blocks,
        mut extra: Extra,
    ) {
        match role {
            "user" => self.user_message(Channel::Item, content, false, id, extra),
            "assistant" => self.agent_message(Channel::Item, content, id, extra),
            // Context that the program gives to the model.
            _ => {
                self.blocks(content);
                extra.push(("role".to_owned(), Json::from(Text::from(role))));
                self.cx.entry(NormalizedEntryType::SystemMessage, content.content(), (id, extra));
            }
        }
    }

    pub(super) fn user_message(
        &mut self,
        channel: Channel,
        content: &Blocks,
        injected: bool,
        id: Option<Text>,
        mut extra: Extra,
    ) {
        self.blocks(content);
        let content = without_image_tags(content);
        let (said, words) = (content.content(), content.words());
        let decoded = words.decode();
        let context = if channel == Channel::Event { None } else { injected_context(&decoded) };
        if injected || context.is_some() {
            // An event also reports an aborted turn.
            if context == Some("turn_aborted")
                && self.is_echo(EchoKind::Notice, "turn aborted", channel)
            {
                return;
            }
            extra.push(("role".to_owned(), Json::from(Text::from("user"))));
            self.cx.entry(NormalizedEntryType::SystemMessage, said, (id, extra));
        } else if !said.is_empty() && !self.is_echo(EchoKind::User, &decoded, channel) {
            self.cx.entry(NormalizedEntryType::UserMessage, said, (id, extra));
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
        if !said.is_empty() && !self.is_echo(EchoKind::Agent, &content.words().decode(), channel) {
            self.cx.entry(NormalizedEntryType::AssistantMessage, said, (id, extra));
        }
    }

    pub(super) fn thoughts(&mut self, channel: Channel, thoughts: Vec<Text>) {
        for thought in thoughts {
            if !thought.is_empty() && !self.is_echo(EchoKind::Thought, &thought.decode(), channel) {
                self.cx.entry(NormalizedEntryType::Thinking, thought, ());
            }
        }
    }

    /// Emits a message between agents, which is neither a prompt nor an answer.
    pub(super) fn between_agents(
        &mut self,
        author: Option<Text>,
        recipient: Option<Text>,
        content: &Blocks,
        mut extra: Extra,
    ) {
        self.blocks(content);
        let known = [("author", author), ("recipient", recipient)];
        extra.extend(
            known.into_iter().filter_map(|(name, who)| Some((name.to_owned(), who?.into()))),
        );
        self.cx.entry(NormalizedEntryType::SystemMessage, content.content(), extra);
    }

    pub(super) fn error(&mut self, channel: Channel, message: Text, extra: Extra) {
        if !self.is_echo(EchoKind::Notice, &message.decode(), channel) {
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

/// The name of the element that encloses a text, if the program adds such texts with the role of the user.
fn injected_context(text: &str) -> Option<&str> {
    let text = text.trim();
    if text.starts_with("# AGENTS.md instructions") {
        return Some("AGENTS.md");
    }
    let (name, _) = text.strip_prefix('<')?.split_once(['>', ' ', '\n'])?;
    let is_name =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    let closed = text.strip_suffix('>')?.strip_suffix(name)?.ends_with("</");
    let known = name.contains('_') || INJECTED.contains(&name);
    (is_name && closed && known).then_some(name)
}

/// Removes `<image name=..>` and `</image>` around an image, since the placeholder is sufficient.
fn without_image_tags(content: &Blocks) -> Blocks {
    let has_image = content.parts.iter().any(|part| matches!(part, Part::Media(_)));
    if !has_image {
        return Blocks { parts: content.parts.clone(), unknown: Vec::new() };
    }
    let is_tag = |part: &Part| match part {
        Part::Text(text) => {
            let text = text.decode();
            let text = text.trim();
            text == "</image>" || (text.starts_with("<image") && text.ends_with('>'))
        }
        Part::Media(_) => false,
    };
    let parts = content.parts.iter().filter(|part| !is_tag(part)).cloned().collect();
    Blocks { parts, unknown: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_is_told_from_words() {
        assert_eq!(
            injected_context("<environment_context>\n  <cwd>/</cwd>\n</environment_context>"),
            Some("environment_context")
        );
        assert_eq!(
            injected_context("# AGENTS.md instructions for /work\n\n<INSTRUCTIONS>"),
            Some("AGENTS.md")
        );
        assert_eq!(injected_context("<skill>\n<name>x</name>\n</skill>"), Some("skill"));
        for words in [
            "hello",
            "<div>hello</div>",
            "<environment_context> is what?",
            "<",
            "< a_b >",
            "",
            "<_>",
        ] {
            assert_eq!(injected_context(words), None, "{words}");
        }
    }
}
