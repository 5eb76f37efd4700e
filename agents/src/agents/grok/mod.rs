//! Grok Build: the sessions that it keeps, `~/.grok/sessions/<folder, percent-encoded>/<id>/`.
//!
//! A session is a history of messages without times (`chat_history.jsonl`) and a list of updates (`updates.jsonl`), which
//! states times, failures and the tokens of each turn. [`GrokSource`] reads both as one log. That 10,000,000,000 ticks of
//! a turn's cost are a dollar has one witness.

mod source;
mod types;

use std::sync::Arc;

use foldline::source::Opener;
use serde::{Deserialize, Serialize};

pub use self::source::GrokSource;
use self::types::{GrokLine, Turn};
use crate::{
    action::*, content::image_of_url, dialect::textual_result::TextualResult, prelude::*,
    recogniser::nested,
};

/// The only field of each line.
const LINE: &str = "grokLine";

/// A session of Grok Build.
#[derive(Clone, Copy, Debug, Default)]
pub struct Grok;

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GrokMemory {
    /// The latest time; most lines state none.
    at: Option<Timestamp>,
}

type Cx<'s> = Context<'s, TextualResult>;

impl Executor for Grok {
    const FORMAT: Format = Format::new("grok", "Grok Build, session", "grok")
        .with_homes(&["${GROK_HOME:-~/.grok}/sessions"])
        .with_no_logs(&["updates.jsonl", "summary.json", "signals.json"]);
    type Line<'a> = GrokLine<'a>;
    type Result = TextualResult;
    type Memory = GrokMemory;

    fn openers(&self) -> Vec<Arc<dyn Opener>> {
        vec![Arc::new(GrokSource)]
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        Evidence::certain_if(nested(object, LINE).is_some_and(|it| it.has_any(&["type", "role"])))
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<GrokLine<'a>> {
        GrokLine::parse(object, header)
    }

    fn line(&self, line: GrokLine<'_>, extra: Extra, memory: &mut GrokMemory, cx: &mut Cx<'_>) {
        let stated = cx.at;
        cx.at = stated.or(memory.at);
        memory.at = cx.at;
        let mut meta = Meta::from(extra);
        match line {
            GrokLine::Facts(facts) => cx.session(*facts),
            GrokLine::Said(kind, texts) => {
                for content in texts {
                    say(&kind, content, &mut meta, cx);
                }
            }
            GrokLine::Answer { text, calls, model, effort } => {
                let known = cx.known();
                if model.as_ref().is_some_and(|model| known.model.as_ref() != Some(model))
                    || effort.as_ref().is_some_and(|it| known.reasoning_effort.as_ref() != Some(it))
                {
                    cx.session(Session { model, reasoning_effort: effort, ..Session::default() });
                }
                if !text.is_empty() {
                    cx.entry(NormalizedEntryType::AssistantMessage, text, meta.next());
                }
                for (id, name, arguments) in calls {
                    let given = arguments.unwrap_or_default();
                    let mut mapped = map(&name, Raw::parse(&given).ok(), cx.cwd().as_deref());
                    if Raw::parse(&given).is_err() {
                        mapped.extra.push(("arguments".to_owned(), Text::from(given).into()));
                    }
                    cx.call(id, &name, mapped, meta.next());
                }
            }
            GrokLine::Result { call, has_failed, body } => {
                let status = if has_failed { ToolStatus::Failed } else { ToolStatus::Success };
                let extra = std::mem::take(&mut meta.extra);
                cx.result(
                    call,
                    TextualResult::new(status, stated).with_body(body).with_extra(extra),
                );
            }
            GrokLine::Served { id, name, action, status } => {
                let mapped = MappedCall::of(&name, Some(action), || true, served);
                cx.call(id.clone(), &name, mapped, meta.next());
                if let Some(status) = status {
                    cx.result(id, TextualResult::new(status, stated));
                }
            }
            GrokLine::Turn(turn) => count(*turn, cx),
        }
        if !meta.extra.is_empty() {
            cx.entry(NormalizedEntryType::SystemMessage, "line", meta.next());
        }
    }
}

/// Shows a text of a message; the program adds some to those of a person.
fn say(kind: &NormalizedEntryType, content: Content, meta: &mut Meta, cx: &mut Cx<'_>) {
    let is_added =
        ["<user_info>", "<system-reminder>"].iter().any(|it| content.text.begins_with(it));
    if is_added && *kind == NormalizedEntryType::UserMessage {
        return cx.entry(NormalizedEntryType::SystemMessage, content, meta.next());
    }
    let content = content.cut(|text| {
        let typed = text.decode().into_owned();
        let query = typed.trim().strip_prefix("<user_query>");
        let query = query.and_then(|query| query.strip_suffix("</user_query>"));
        query.map_or(text, |query| query.trim().into())
    });
    cx.entry(kind.clone(), content, meta.next());
}

/// Maps a call of the tool `name`.
fn map(name: &str, arguments: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
    MappedCall::of(
        name,
        arguments,
        || is_mcp_tool(name),
        |given| {
            Some(match name {
                "bash" | "run_terminal_cmd" => command_run(given.text("command")),
                "read_file" => file_read(take_path(given, "target_file", cwd)),
                _ => return None,
            })
        },
    )
}

/// The action of a tool that ran at the service.
fn served(given: &mut Object<'_>) -> Option<Titled> {
    given.ignore(&["type"]);
    match given.has("query") || given.has("pattern") {
        true => Some(search(given.text("query").or_else(|| given.text("pattern")))),
        false => Some(web_fetch(Some(given.text("url")?))),
    }
}

/// Counts the tokens of a turn, by model if there are several.
fn count(turn: Turn, cx: &mut Cx<'_>) {
    let Turn { id, usage, models } = turn;
    let session = cx.known().session_id.as_ref().map(SessionId::as_str).unwrap_or_default();
    let key = id.map(|id| format!("{session}/{id}"));
    match <[_; 1]>::try_from(models) {
        Ok([(model, _)]) => cx.usage_of_message(key.map(Text::from), Some(model), usage),
        Err(models) if models.is_empty() => {
            let model = cx.known().model.clone();
            cx.usage_of_message(key.map(Text::from), model, usage);
        }
        Err(models) => {
            for (model, usage) in models {
                let key = key.as_ref().map(|key| Text::from(format!("{key}/{model}")));
                cx.usage_of_message(key, Some(model), usage);
            }
        }
    }
}
