//! The wire types of opencode 2: a message is a row of its table, with its id and its type.

use super::types::{Message, Part, SessionPart, UserCommand};
use crate::{
    agents::opencode::types::{Attachment, Counts, OpencodeError, ToolUse},
    prelude::*,
};

/// Reads a row. One of an unknown type is kept as a part.
pub(super) fn read<'a>(raw: Raw<'a>, mut row: Object<'a>) -> Message<'a> {
    let kind = row.str("type").unwrap_or_default();
    let mut message = Message { id: row.text("id"), ..Message::default() };
    row.within("time", |time| {
        time.ignore(&["streamed"]);
        message.created_at = time.timestamp("created");
        message.completed_at = time.timestamp("completed");
    });
    let Some(parts) = take(&kind, &mut row, &mut message) else {
        let kind = SessionPart::Unknown { name: kind, raw };
        message.parts.push(Part { at: message.created_at, kind, unknown: Fields::new() });
        return message;
    };
    message.parts.extend(parts);
    // Data of the model's provider.
    row.ignore(&["metadata"]);
    message.unknown = row.rest();
    message
}

/// Takes the facts and the parts of a message; `None` for an unknown type.
fn take<'a>(kind: &str, row: &mut Object<'a>, message: &mut Message<'a>) -> Option<Vec<Part<'a>>> {
    let at = message.created_at;
    let part = |kind| Part { at, kind, unknown: Fields::new() };
    Some(match kind {
        "user" => {
            message.is_user = true;
            let text = row.text("text").unwrap_or_default();
            let mut parts = vec![part(SessionPart::Text { text, is_notice: false })];
            parts.extend(row.array("files").unwrap_or_default().into_iter().map(|raw| {
                let file = value::object(raw).and_then(|mut file| Attachment::take(&mut file));
                part(file.map_or_else(|| unknown("file", raw), SessionPart::File))
            }));
            for (list, name) in [("agents", "agent"), ("skills", "skill")] {
                parts.extend(row.array(list).unwrap_or_default().into_iter().map(|raw| {
                    let named = value::object(raw).and_then(|mut it| it.str("name"));
                    let notice = named.map(|named| SessionPart::Notice(format!("{name}: {named}")));
                    part(notice.unwrap_or_else(|| unknown(name, raw)))
                }));
            }
            parts
        }
        "assistant" => {
            take_request(row, message);
            message.agent = row.text("agent");
            message.finish = row.str("finish");
            message.error = row.within("error", OpencodeError::take);
            let blocks = row.array("content").unwrap_or_default().into_iter();
            let mut parts: Vec<_> = blocks.map(|raw| block(raw, at)).collect();
            let retry = row.within("retry", |retry| {
                retry.ignore(&["attempt"]);
                let at = retry.timestamp("at").or(at);
                let error = retry.within("error", OpencodeError::take)?;
                Some(Part { at, kind: SessionPart::Retry(error), unknown: Fields::new() })
            });
            parts.extend(retry.flatten());
            row.ignore(&["snapshot"]);
            parts
        }
        // Written by the program.
        "synthetic" | "system" | "skill" => {
            row.ignore(&["skill"]);
            let texts = ["name", "description", "text"].map(|key| row.str(key));
            let texts: Vec<_> = texts.into_iter().flatten().collect();
            vec![part(SessionPart::Notice(texts.join("\n")))]
        }
        "shell" => vec![part(SessionPart::Command(take_command(row, message)))],
        "compaction" => {
            message.is_summary = true;
            take_request(row, message);
            row.ignore(&["reason", "recent"]);
            if row.str("status").as_deref() == Some("running") {
                row.ignore(&["summary"]);
                return Some(Vec::new());
            }
            let error = row.within("error", OpencodeError::take).map(SessionPart::Retry);
            let summary = row.text("summary").filter(|summary| !summary.is_empty());
            let compaction = SessionPart::Compaction(summary);
            vec![part(error.unwrap_or(compaction))]
        }
        "agent-switched" => {
            row.ignore(&["previous"]);
            message.agent = row.text("agent");
            Vec::new()
        }
        "model-switched" => {
            row.ignore(&["previous"]);
            take_model(row, message);
            Vec::new()
        }
        "location-switched" => {
            row.ignore(&["previous", "projectID"]);
            let folder = |location: &mut Object<'a>| location.text("directory");
            message.cwd = row.text("location").or_else(|| row.within("location", folder).flatten());
            Vec::new()
        }
        "idle" => {
            message.end = row.str("outcome");
            Vec::new()
        }
        _ => return None,
    })
}

fn unknown<'a>(name: &'static str, raw: Raw<'a>) -> SessionPart<'a> {
    SessionPart::Unknown { name: name.into(), raw }
}

fn take_model<'a>(row: &mut Object<'a>, message: &mut Message<'a>) {
    row.within("model", |model| {
        model.ignore(&["variant"]);
        message.model = model.text("id");
        message.provider = model.text("providerID");
    });
}

/// Takes the model of a request, its tokens and its cost.
fn take_request<'a>(row: &mut Object<'a>, message: &mut Message<'a>) {
    take_model(row, message);
    let cost_usd = row.f64("cost");
    let Some(counts) = row.within("tokens", Counts::take) else { return };
    message.usage = counts.usage(cost_usd);
    let times = [message.created_at, message.completed_at];
    message.request = counts.request(message.model.as_ref(), times);
}

fn take_command(row: &mut Object<'_>, message: &Message<'_>) -> UserCommand {
    let id = row.corr_id("shellID").or_else(|| row.corr_id("callID"));
    let own_id = || message.id.as_ref().map(|id| CorrId::from(&*id.decode()));
    let output = row.text("output");
    let exit_code = row.take("exit", value::parse);
    let ended = match exit_code {
        Some(0) | None => ToolStatus::Success,
        Some(_) => ToolStatus::Failed,
    };
    let status = match row.str("status").as_deref() {
        Some("running") => None,
        Some("killed") => Some(ToolStatus::Cancelled),
        Some("timeout") => Some(ToolStatus::Failed),
        Some(_) => Some(ended),
        // A preview has no status.
        None => (message.completed_at.is_some() || output.is_some()).then_some(ended),
    };
    UserCommand {
        id: id.or_else(own_id),
        command: row.text("command"),
        status,
        output,
        exit_code,
        ended_at: message.completed_at,
    }
}

/// Reads a block of an assistant's message.
fn block<'a>(raw: Raw<'a>, created_at: Option<Timestamp>) -> Part<'a> {
    let mut block = value::object(raw).unwrap_or_default();
    let mut at = created_at;
    let name = block.str("type").unwrap_or_default();
    let kind = match &*name {
        "text" => {
            let text = block.text("text").unwrap_or_default();
            SessionPart::Text { text, is_notice: false }
        }
        "reasoning" => {
            block.within("time", |time| {
                at = time.timestamp("created").or(at);
                time.ignore(&["completed"]);
            });
            SessionPart::Reasoning(block.text("text").unwrap_or_default())
        }
        "tool" => take_call(&mut block, &mut at),
        _ => {
            let kind = SessionPart::Unknown { name, raw };
            return Part { at, kind, unknown: Fields::new() };
        }
    };
    block.ignore(&["id", "metadata", "executed"]);
    Part { at, kind, unknown: block.rest() }
}

/// Takes a call in its current state.
fn take_call<'a>(block: &mut Object<'a>, at: &mut Option<Timestamp>) -> SessionPart<'a> {
    let times = block.within("time", |time| {
        let begun = [time.timestamp("ran"), time.timestamp("created")];
        *at = begun.into_iter().flatten().next().or(*at);
        time.timestamp("completed")
    });
    let mut state = block.object("state").unwrap_or_default();
    let status = state.take("status", |raw| {
        let status = value::as_str(raw)?;
        let known = ["streaming", "pending", "running", "completed", "error"];
        known.contains(&&*status).then_some(status)
    });
    if status.as_deref() == Some("streaming") {
        // The beginning of the input as a text.
        state.ignore(&["input"]);
    }
    let message = state.within("error", |error| {
        error.ignore(&["type"]);
        error.text("message")
    });
    let metadata = state.object("metadata").or_else(|| state.object("structured"));
    let call = Box::new(ToolUse {
        id: block.corr_id("id"),
        name: block.str("name").unwrap_or_default(),
        input: state.raw("input"),
        is_error: status.as_deref() == Some("error"),
        output: message.flatten(),
        content: state.raw("content"),
        title: None,
        metadata: metadata.unwrap_or_default(),
        attachments: Vec::new(),
        ended_at: times.flatten(),
    });
    block.adopt("state", state);
    match status.as_deref() {
        Some("streaming" | "pending" | "running") => SessionPart::Begun(call),
        _ => SessionPart::Ended(call),
    }
}
