//! Messages with the role of the user: which of them a person typed.
//!
//! The program writes context with the same role. In this order: the log states the kind of each block; an event or an
//! item repeats what was typed, usually in the next line; the beginning of a text is that of context.

use serde::{Deserialize, Serialize};

use super::{
    echoes::{self, Channel, EchoKind},
    session::Step,
};
use crate::{
    action::is_among,
    content::{Blocks, Part},
    prelude::*,
};

/// Elements that begin context.
const CONTEXT: &str = "INSTRUCTIONS codex_internal_context environment_context hook_prompt \
    instructions recommended_plugins skill subagent_notification turn_aborted user_instructions";

/// The line before the prompt in a message of an editor, which begins with the state of the editor.
const REQUEST: &str = "## My request for Codex:";

/// The maximum number of messages that are held.
const MOST_HELD: usize = 16;

/// A message with the role of the user.
#[derive(Clone, Debug, Default)]
pub struct Prompt {
    pub id: Option<Text>,
    /// The text, with placeholders for other content.
    pub content: Blocks,
    pub author: Author,
}

/// The author of a [`Prompt`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Author {
    #[default]
    Unstated,
    Person,
    /// The program, or the person in the parent's session.
    Program,
}

/// A message until the next line, which may state that a person typed it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Held {
    prints: Vec<u64>,
    entry: NormalizedEntry,
}

impl Held {
    fn has_image(&self) -> bool {
        self.entry.metadata.as_ref().is_some_and(|metadata| !metadata.images.is_empty())
    }

    /// Whether both are the same message; images read differently on each channel.
    fn is_twin(&self, other: &Self) -> bool {
        self.prints.iter().any(|print| other.prints.contains(print))
            || (self.has_image() && other.has_image())
    }
}

impl Step<'_, '_> {
    pub(super) fn user_message(&mut self, channel: Channel, prompt: Prompt, extra: Extra) {
        let Prompt { id, content, author } = prompt;
        self.blocks(&content);
        let mut content = without_image_tags(content);
        if let Some((context, request)) = request(&content).filter(|_| author != Author::Program) {
            if !self.is_echo(EchoKind::Notice, &context.decode(), channel) {
                let entry =
                    self.cx.draft(NormalizedEntryType::UserMessage, context, (id.clone(), vec![]));
                self.emit(entry, Author::Program);
            }
            content = request;
        }
        let shown = content.content();
        if shown.is_empty() {
            return;
        }
        let prints = echoes::prints(EchoKind::User, &words(&content), id.as_ref());
        let entry = self.cx.draft(NormalizedEntryType::UserMessage, shown, (id, extra));
        let prompt = Held { prints, entry };
        if author == Author::Unstated {
            if !prompt.prints.iter().any(|print| self.memory.echoes.is_heard(*print, channel)) {
                self.memory.held.push(prompt);
            }
            if self.memory.held.len() > MOST_HELD {
                self.release(MOST_HELD);
            }
            return;
        }
        self.memory.states_prompts |= author == Author::Person && channel != Channel::Item;
        let Some(at) = self.memory.held.iter().position(|held| held.is_twin(&prompt)) else {
            if !self.memory.echoes.is_echo_of(&prompt.prints, channel) {
                self.emit(prompt.entry, author);
            }
            return;
        };
        self.release(at);
        let held = self.memory.held.remove(0);
        self.memory.echoes.is_echo_of(&held.prints, Channel::Item);
        self.memory.echoes.is_echo_of(&prompt.prints, channel);
        self.emit(held.entry, author);
    }

    /// Emits the first held messages: no line states that a person typed them.
    pub(super) fn release(&mut self, count: usize) {
        let held = self.memory.held.len();
        for Held { prints, entry } in self.memory.held.drain(..count.min(held)).collect::<Vec<_>>()
        {
            let (is_context, is_abort) = {
                let text = entry.content.decode();
                let context = injected_context(&text);
                (context.is_some(), context == Some("turn_aborted"))
            };
            // An event also reports an aborted turn.
            if is_abort && self.is_echo(EchoKind::Notice, "turn aborted", Channel::Item) {
                continue;
            }
            if is_context || self.memory.states_prompts {
                self.emit(entry, Author::Program);
            } else {
                self.memory.echoes.is_echo_of(&prints, Channel::Item);
                self.emit(entry, Author::Person);
            }
        }
    }

    fn emit(&mut self, mut entry: NormalizedEntry, author: Author) {
        if author == Author::Program {
            entry.entry_type = NormalizedEntryType::SystemMessage;
            let role = ("role".to_owned(), Json::from(Text::from("user")));
            entry.metadata_mut().extra.extend([role]);
        }
        self.cx.push(entry);
    }
}

/// The words without the placeholders `[Image #1]`, whose place differs between the channels.
fn words(content: &Blocks) -> String {
    let words = content.words();
    let words = words.decode();
    let mut parts = words.split("[Image #");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |words, part| {
        let number = part.split_once(']').filter(|(number, _)| number.parse::<u16>().is_ok());
        match number {
            Some((_, rest)) => words.trim_end().to_owned() + rest,
            None => words + "[Image #" + part,
        }
    })
}

/// The context and the request of a message of an editor.
fn request(content: &Blocks) -> Option<(Text, Blocks)> {
    let (at, context, request) = content.parts.iter().enumerate().find_map(|(at, part)| {
        let Part::Text(text) = part else { return None };
        let text = text.decode();
        let (context, request) = text.split_once(REQUEST)?;
        let is_line = context.ends_with('\n') && request.starts_with('\n');
        is_line.then(|| (at, Text::from(context.trim_end()), Text::from(request.trim())))
    })?;
    let mut parts = content.parts.clone();
    parts[at] = Part::Text(request);
    Some((context, Blocks { parts, unknown: Vec::new() }))
}

/// The name of the context that begins a text, if the program adds such texts with the role of the user.
fn injected_context(text: &str) -> Option<&str> {
    let text = text.trim();
    if text.starts_with("# AGENTS.md") {
        return Some("AGENTS.md");
    }
    let (name, _) = text.strip_prefix('<')?.split_once(['>', ' ', '\n'])?;
    let is_name =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    let is_closed = || text.strip_suffix('>')?.strip_suffix(name)?.strip_suffix("</");
    let is_context = is_among(CONTEXT, name) || (name.contains('_') && is_closed().is_some());
    (is_name && is_context).then_some(name)
}

/// Removes `<image name=..>` and `</image>` around an image, since the placeholder is sufficient.
fn without_image_tags(mut content: Blocks) -> Blocks {
    if content.parts.iter().any(|part| matches!(part, Part::Media(_))) {
        content.parts.retain(|part| !is_image_tag(part));
    }
    content
}

/// Whether a block is `<image name=..>` or `</image>`.
pub(super) fn is_image_tag(part: &Part) -> bool {
    let Part::Text(text) = part else { return false };
    let text = text.decode();
    let text = text.trim();
    text == "</image>" || (text.starts_with("<image") && text.ends_with('>'))
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
        for (name, text) in [
            ("skill", "<skill>\n<name>x</name>\n</skill>"),
            ("recommended_plugins", "<recommended_plugins>\nHere is a list."),
            ("question_reply", "<question_reply>yes</question_reply>"),
        ] {
            assert_eq!(injected_context(text), Some(name));
        }
        for words in
            ["hello", "<div>hello</div>", "<question_reply> is what?", "<", "< a_b >", "", "<_>"]
        {
            assert_eq!(injected_context(words), None, "{words}");
        }
    }

    #[test]
    fn placeholders_of_images_are_no_words() {
        let words = |text: &str| words(&Blocks::from(Text::from(text))).trim().to_owned();
        assert_eq!(words("[Image #1] why grey"), words("why grey\n\n[Image #1]"));
        assert_eq!(words("a [Image #x] b [Image #12] c"), "a [Image #x] b c");
        assert_eq!(words("[Image #"), "[Image #");
    }
}
