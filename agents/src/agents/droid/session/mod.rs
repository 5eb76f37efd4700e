//! Droid's session files: `~/.factory/sessions/<project>/<session>.jsonl`.
//!
//! The tokens of a session are in the settings file next to it, which is a separate format.

mod types;

use self::types::SessionJson;
use crate::{droid::result::DroidResult, evidence::nested, prelude::*};

/// Droid's session files.
#[derive(Clone, Copy, Debug, Default)]
pub struct DroidSession;

type Cx<'s> = Context<'s, DroidResult>;

impl Executor for DroidSession {
    const FORMAT: Format = Format::new("droid-session", "Factory Droid, session file", "droid")
        .with_homes(&["~/.factory/sessions"])
        .with_companion(super::settings::ENDING);
    type Line<'a> = SessionJson<'a>;
    type Result = DroidResult;
    type Memory = ();

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        Evidence::certain_if(match &*object.get_str("type").unwrap_or_default() {
            "session_start" => object.has_all(&["id", "version", "cwd"]),
            // Messages of Pi have the same fields, and more.
            "message" => nested(object, "message").is_some_and(|message| {
                object.has("id") && !message.has_any(&["provider", "timestamp", "toolCallId"])
            }),
            "todo_state" => object.has_all(&["id", "todos"]),
            "compaction_state" => object.has_all(&["id", "summaryText"]),
            _ => false,
        })
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
            SessionJson::Start(facts) => cx.session(Session { started_at: cx.at, ..*facts }),
            SessionJson::Message(line) => line.tell(extra, None, cx),
            SessionJson::Compaction(summary, counts) => {
                let extra = [counts, extra].concat();
                let content = format!("context compacted\n{summary}");
                cx.entry(NormalizedEntryType::Compaction, content.trim_end(), extra);
            }
            SessionJson::End { of, word, fields } => ended(of, word, fields, cx),
        }
    }
}

fn ended(of: &str, word: Option<Text>, fields: Extra, cx: &mut Cx<'_>) {
    let outcome = word.as_ref().and_then(|word| outcome_of(&word.decode()));
    let content = match &word {
        Some(word) => format!("{of} ended: {word}"),
        None => format!("{of} ended"),
    };
    let ended_at = cx.at;
    cx.session(Session { outcome, outcome_reason: word, ended_at, ..Session::default() });
    cx.entry(NormalizedEntryType::SystemMessage, content, fields);
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
