//! What the records of a Droid session file mean.

use super::types::{SessionBlock, SessionEnd, SessionJson, SessionMessage, SessionStart};
use crate::{
    conversation::{NormalizedEntryType, Outcome, Session, Text},
    executors::{
        context::Context,
        droid::{DroidResult, action_mapper},
        evidence::Evidence,
        executor::{Executor, Extra, Header, Parsed},
        format::Format,
        wire::Object,
    },
};

/// Droid's session files.
#[derive(Clone, Copy, Debug, Default)]
pub struct DroidSession;

type Cx<'s> = Context<'s, DroidResult>;

impl Executor for DroidSession {
    const FORMAT: Format = Format {
        name: "droid-session",
        title: "Factory Droid, session file",
        agent: "droid",
        homes: &["~/.factory/sessions"],
    };
    type Line<'a> = SessionJson<'a>;
    type Result = DroidResult;
    type Memory = ();

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        super::recognise::recognise(object)
    }

    fn parse<'a>(
        &self,
        object: &mut Object<'a>,
        header: &mut Header<'a>,
    ) -> Parsed<SessionJson<'a>> {
        SessionJson::parse(object, header)
    }

    fn line(&self, line: SessionJson<'_>, extra: Extra, _memory: &mut (), cx: &mut Cx<'_>) {
        match line {
            SessionJson::Start(start) => session_start(start, cx),
            SessionJson::Message(line) => message(line, &extra, cx),
            SessionJson::Compaction(summary) => {
                let content = format!("context compacted\n{summary}");
                cx.entry(NormalizedEntryType::SystemMessage, content.trim_end(), extra);
            }
            SessionJson::End(end) => ended(end, cx),
        }
    }
}

fn session_start(start: SessionStart, cx: &mut Cx<'_>) {
    let SessionStart { id, title, cwd, parent } = start;
    cx.session(Session {
        session_id: id,
        title,
        cwd,
        parent_session_id: parent,
        started_at: cx.at,
        ..Session::default()
    });
}

fn message(message: SessionMessage<'_>, extra: &Extra, cx: &mut Cx<'_>) {
    let SessionMessage { id, role, hidden, model, reasoning_effort, blocks } = message;
    cx.session(Session { model, reasoning_effort, ..Session::default() });
    for block in blocks {
        let meta = (id.clone(), extra.clone());
        match block {
            SessionBlock::Text(text) => {
                let kind = match &*role {
                    _ if hidden => NormalizedEntryType::SystemMessage,
                    "assistant" => NormalizedEntryType::AssistantMessage,
                    "user" if !is_reminder(&text) => NormalizedEntryType::UserMessage,
                    _ => NormalizedEntryType::SystemMessage,
                };
                cx.entry(kind, text, meta);
            }
            SessionBlock::Thinking(thought) if thought.is_empty() => {}
            SessionBlock::Thinking(thought) => {
                cx.entry(NormalizedEntryType::Thinking, thought, meta);
            }
            SessionBlock::ToolUse { id, name, input } => {
                let call = action_mapper::map(&name, input, cx.cwd().as_deref());
                cx.call(id, &name, call, meta);
            }
            SessionBlock::ToolResult { id, content, is_error } => {
                for (name, block) in &content.unknown {
                    cx.unknown_block(name, block.clone());
                }
                cx.result(id, DroidResult::of_text(is_error, content.text(), cx.at));
            }
            SessionBlock::Nothing => {}
            SessionBlock::Unknown(name, block) => cx.unknown_block(&name, block),
        }
    }
}

fn ended(end: SessionEnd, cx: &mut Cx<'_>) {
    let SessionEnd { of, word, fields } = end;
    let outcome = word.as_ref().and_then(|word| outcome_of(&word.decode()));
    let content = match &word {
        Some(word) => format!("{of} ended: {word}"),
        None => format!("{of} ended"),
    };
    let ended_at = cx.at;
    cx.session(Session { outcome, outcome_reason: word, ended_at, ..Session::default() });
    cx.entry(NormalizedEntryType::SystemMessage, content, fields);
}

/// What the program tells the model in the person's name.
fn is_reminder(text: &Text) -> bool {
    let text = text.decode();
    let text = text.trim();
    text.starts_with("<system-reminder>") && text.ends_with("</system-reminder>")
}

fn outcome_of(word: &str) -> Option<Outcome> {
    Some(match word {
        "success" | "completed" | "complete" | "done" => Outcome::Success,
        "error" | "failed" | "failure" => Outcome::Failed,
        "cancelled" | "canceled" | "aborted" | "interrupted" => Outcome::Cancelled,
        word if word.contains("limit") => Outcome::LimitReached,
        _ => return None,
    })
}
