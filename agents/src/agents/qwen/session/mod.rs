//! Session files: `~/.qwen/projects/<project>/chats/<session>.jsonl`, and those of sub-agents.

mod parts;
mod types;

use self::{
    parts::{Part, PartKind, Response, joined},
    types::{Detail, SessionJson, SessionLine},
};
use crate::{
    dialect::{gemini, textual_result::TextualResult},
    prelude::*,
    qwen::status_of_failure,
    recogniser::{is_tree_record, nested},
};

/// Qwen Code's session files.
///
/// Tokens are counted from the model's messages. Messages that were copied from another session are counted there.
#[derive(Clone, Copy, Debug, Default)]
pub struct QwenSession;

type Cx<'s> = Context<'s, TextualResult>;

impl Executor for QwenSession {
    const FORMAT: Format = Format::new("qwen-session", "Qwen Code, session file", "qwen")
        .with_tested("0.23.0")
        .with_homes(&["~/.qwen/projects"]);
    type Line<'a> = SessionLine<'a>;
    type Result = TextualResult;
    type Memory = ();

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        const OWN: [&str; 5] =
            ["systemPayload", "usageMetadata", "toolCallResult", "provenance", "contextWindowSize"];
        // Only Qwen Code has parts in a message; its older records lack ids.
        if nested(object, "message").is_some_and(|message| message.has("parts")) {
            return Evidence::Certain;
        }
        if !is_tree_record(object) {
            return Evidence::None;
        }
        if object.has_any(&OWN) { Evidence::Certain } else { Evidence::Possible }
    }

    fn parse<'a>(
        &self,
        object: &mut Object<'a>,
        header: &mut Header<'a>,
    ) -> Parsed<SessionLine<'a>> {
        SessionLine::parse(object, header)
    }

    fn line(&self, line: SessionLine<'_>, extra: Extra, (): &mut (), cx: &mut Cx<'_>) {
        let SessionLine { json, uuid, is_copy, session } = line;
        let model = session.model.clone();
        cx.session(Session { started_at: cx.known().started_at.or(cx.at), ..session });
        let mut meta = Meta { message_id: uuid, extra, ..Meta::default() };
        match json {
            SessionJson::Message { kind, parts, facts, usage } => {
                let is_told = |json: &Json| parts.iter().any(|part| part.tells(json));
                meta.extra.extend(facts.into_iter().filter(|(_, json)| !is_told(json)));
                for part in joined(parts) {
                    say(part, &kind, &mut meta, cx);
                }
                if !is_copy {
                    cx.usage_of(model.or_else(|| cx.known().model.clone()), usage);
                }
            }
            SessionJson::ToolResult { parts, detail } => tool_result(parts, detail, meta, cx),
            SessionJson::Said { kind, texts, facts } => {
                meta.extra.extend(facts);
                for text in texts {
                    cx.entry(kind.clone(), text, meta.next());
                }
            }
            SessionJson::Facts => {}
        }
    }

    fn is_ignored(&self, line: &SessionLine<'_>) -> bool {
        matches!(&line.json, SessionJson::Said { texts, .. } if texts.is_empty())
    }
}

fn tool_result(parts: Vec<Part<'_>>, detail: Detail, mut meta: Meta, cx: &mut Cx<'_>) {
    let answers = |part: &Part<'_>| matches!(part.kind, PartKind::Response(_));
    let own = parts.iter().position(|part| part.answers(detail.call.as_ref()));
    let own = own.or_else(|| parts.iter().position(answers));
    let mut detail = Some(detail);
    for (at, part) in parts.into_iter().enumerate() {
        match part.kind {
            PartKind::Response(response) => {
                meta.extra.extend(cx.unknown_fields("part", &part.unknown));
                let detail = detail.take_if(|_| Some(at) == own).unwrap_or_default();
                answer(response, detail, meta.next().extra, cx);
            }
            _ => say(part, &NormalizedEntryType::SystemMessage, &mut meta, cx),
        }
    }
    // The result has no part for the model.
    if let Some(detail) = detail {
        answer(Response::default(), detail, meta.extra, cx);
    }
}

fn answer(response: Response, detail: Detail, mut extra: Extra, cx: &mut Cx<'_>) {
    let Response { id, name, is_error, body } = response;
    let Detail { call, status, error, shown, diff, facts } = detail;
    extra.extend(facts);
    let mut words = [error.clone(), shown.clone()].into_iter().flatten().map(Content::from);
    let body = body.filter(|body| !body.is_empty()).or_else(|| words.next());
    for (name, words) in [("error", error), ("resultDisplay", shown)] {
        let is_told = |words: &Text| {
            body.as_ref().is_some_and(|body| body.text.decode().contains(&*words.decode()))
        };
        let words = words.filter(|words| !is_told(words));
        extra.extend(words.map(|words| (name.to_owned(), Json::from(words))));
    }
    let text = body.as_ref().map(|body| &body.text);
    let status = match status.as_ref().map(Text::decode).as_deref() {
        Some("success") => ToolStatus::Success,
        Some("error") => status_of_failure(text),
        Some("cancelled") => match status_of_failure(text) {
            ToolStatus::Failed => ToolStatus::Cancelled,
            status => status,
        },
        word => {
            extra.extend(word.map(|word| ("status".to_owned(), Json::from(Text::from(word)))));
            if is_error { status_of_failure(text) } else { ToolStatus::Success }
        }
    };
    let key = ResultKey::from(id.or_else(|| Some(call?.decode().as_ref().into())));
    let key = match name {
        Some(name) => key.with_tool(name),
        None => key,
    };
    let result = TextualResult::new(status, cx.at).with_content(body).with_extra(extra);
    cx.result(key, result.with_detail(diff));
}

/// Emits a part of a message, whose texts are entries of this kind.
fn say(part: Part<'_>, kind: &NormalizedEntryType, meta: &mut Meta, cx: &mut Cx<'_>) {
    meta.extra.extend(cx.unknown_fields("part", &part.unknown));
    match part.kind {
        PartKind::Text(Content { text, .. }) | PartKind::Thought(text) if text.is_empty() => {}
        PartKind::Text(said) => {
            // A hook added this text to a prompt.
            let is_added = said.text.begins_with("<qwen:user-prompt-submit-context>");
            let kind = if is_added { NormalizedEntryType::SystemMessage } else { kind.clone() };
            cx.entry(kind, said, meta.next());
        }
        PartKind::Thought(text) => cx.entry(NormalizedEntryType::Thinking, text, meta.next()),
        PartKind::Media(file) => cx.entry(kind.clone(), file, meta.next()),
        PartKind::Call { id, name, args } => {
            let call = gemini::map(&name, args, cx.cwd().as_deref());
            cx.call(id, &name, call, meta.next());
        }
        PartKind::Response(response) => {
            answer(response, Detail::default(), meta.next().extra, cx);
        }
        PartKind::Unknown(raw) => cx.unknown_block("part", raw),
    }
}
