//! What the records of a Droid session file mean.

use super::types::{SessionEnd, SessionJson, SessionMessage, SessionStart};
use crate::{
    conversation::{NormalizedEntryType, Outcome, Session, Text},
    executors::{
        action::MappedCall,
        context::{Context, Extra, Meta},
        dialect::anthropic::{self, Reader, ToolResult},
        droid::{action_mapper, result::DroidResult},
        evidence::Evidence,
        executor::{Executor, Header, Parsed},
        format::Format,
        wire::Object,
    },
    json::Raw,
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
            SessionJson::Message(line) => message(line, extra, cx),
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

fn message(line: SessionMessage<'_>, extra: Extra, cx: &mut Cx<'_>) {
    let SessionMessage { role, hidden, model, reasoning_effort, message } = line;
    cx.session(Session { model, reasoning_effort, ..Session::default() });
    let meta = Meta::from((message.id.clone(), extra));
    anthropic::read(message, "message", meta, &mut Blocks { role: &role, hidden }, cx);
}

struct Blocks<'m> {
    role: &'m str,
    hidden: bool,
}

impl Reader<DroidResult> for Blocks<'_> {
    fn text(&mut self, text: Text) -> (NormalizedEntryType, Text) {
        let entry_type = match self.role {
            _ if self.hidden => NormalizedEntryType::SystemMessage,
            "assistant" => NormalizedEntryType::AssistantMessage,
            "user" if !is_reminder(&text) => NormalizedEntryType::UserMessage,
            _ => NormalizedEntryType::SystemMessage,
        };
        (entry_type, text)
    }

    fn call(&mut self, name: &str, input: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
        action_mapper::map(name, input, cwd)
    }

    fn result(&mut self, answer: ToolResult<'_>, extra: Extra, cx: &mut Cx<'_>) -> DroidResult {
        DroidResult::of_text(answer.is_error, answer.body, cx.at, extra)
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
