//! The frame of a transcript: the session's facts at the beginning, the totals at the end.

use foldline_domain::{Outcome, Session, SessionId, SessionKey, Summary, Text, TokenUsage};

use super::{
    calls::Calls,
    page::Page,
    row::{Ink, Row},
    safe_text::SafeText,
    wrap::wrap_line,
};
use crate::human;

/// Prints the session's facts.
pub(super) fn header(page: &mut Page, session: &Session) {
    let agent = session.agent.as_ref().map_or("session".into(), Text::decode);
    let mut title = Row::new(Ink::Strong, agent);
    if let Some(version) = &session.version {
        title = title.then(Ink::Quiet, format!(" {version}"));
    }
    if let Some(model) = model(session) {
        title = title.item(Ink::Plain, model);
    }
    page.rule(title);
    let text = |text: &Option<Text>| text.as_ref().map(|text| text.decode().into_owned());
    fact(page, "title", text(&session.title));
    fact(page, "cwd", text(&session.cwd));
    fact(page, "branch", text(&session.branch));
    fact(page, "allowed", allowed(session));
    fact(page, "session", session.session_id.as_ref().map(SessionId::to_string));
    fact(page, "from", session.parent_session_id().map(SessionId::to_string));
}

/// Prints the name of the following session, if the previous lines belong to another one.
pub(super) fn divider(page: &mut Page, key: SessionKey, name: Option<&SessionId>) {
    let number = u64::from(key.0) + 1;
    let title = Row::new(Ink::Strong, format!("session {number}"));
    page.rule(match name {
        Some(name) => title.item(Ink::Plain, name.as_str()),
        None => title,
    });
}

/// A row about changed facts; empty if no displayed fact changed.
pub(super) fn news(old: &Session, new: &Session) -> Row {
    let text = |text: &Option<Text>| text.as_ref().map(|text| text.decode().into_owned());
    let id = |session: &Session| session.session_id.as_ref().map(SessionId::to_string);
    let facts = [
        ("model", model(old), model(new)),
        ("title", text(&old.title), text(&new.title)),
        ("cwd", text(&old.cwd), text(&new.cwd)),
        ("branch", text(&old.branch), text(&new.branch)),
        ("allowed", allowed(old), allowed(new)),
        ("agent", text(&old.agent), text(&new.agent)),
        ("version", text(&old.version), text(&new.version)),
        ("session", id(old), id(new)),
    ];
    facts.into_iter().fold(Row::default(), |row, (name, old, new)| match (old, new) {
        (None, Some(new)) => row.item(Ink::Quiet, format!("{name} {new}")),
        (Some(old), Some(new)) if old != new => {
            row.item(Ink::Quiet, format!("{name} {old} → {new}"))
        }
        _ => row,
    })
}

/// Prints the totals of the session.
pub(super) fn footer(page: &mut Page, summary: &Summary, calls: &Calls) {
    let session = summary.session.as_deref();
    page.rule(session.map_or_else(|| Row::new(Ink::Strong, "end"), end));
    let reason = session.and_then(|session| session.outcome_reason.as_ref());
    let outcome = session.and_then(|session| session.outcome).map(Outcome::as_str);
    let reason = reason.filter(|reason| outcome.is_none_or(|outcome| **reason != outcome));
    fact(page, "reason", reason.map(|reason| reason.decode().into_owned()));
    if let Some(usage) = &summary.usage {
        row(page, "tokens", tokens(usage));
        let cost = usage.cost_usd.map(human::dollars);
        fact(page, "cost", cost);
    }
    row(page, "calls", calls.totals());
    let warnings = summary.warnings.iter().fold(Row::default(), |row, (kind, count)| {
        row.item(Ink::Caution, format!("{count} {}", kind.as_str()))
    });
    row(page, "warnings", warnings);
}

fn model(session: &Session) -> Option<String> {
    let model = session.model.as_ref()?.decode();
    Some(match &session.reasoning_effort {
        Some(effort) => format!("{model} ({effort})"),
        None => model.into_owned(),
    })
}

/// What the agent may do without asking: `everything (bypassPermissions)`.
fn allowed(session: &Session) -> Option<String> {
    let authority = session.authority.as_ref()?;
    Some(match authority.allowed {
        Some(allowed) => format!("{} ({})", allowed.as_str(), authority.words()),
        None => authority.words(),
    })
}

fn end(session: &Session) -> Row {
    let mut row = match session.outcome {
        Some(Outcome::Success) => Row::new(Ink::Good, "success"),
        Some(outcome @ Outcome::Failed) => Row::new(Ink::Bad, outcome.as_str()),
        Some(outcome) => Row::new(Ink::Caution, outcome.as_str().replace('_', " ")),
        None => Row::new(Ink::Strong, "end"),
    };
    if let Some(turns) = session.turns {
        row = row.item(Ink::Plain, human::number_of(turns, "turn"));
    }
    let between = || session.ended_at?.millis_since(session.started_at?);
    match session.duration_ms.or_else(between) {
        Some(millis) => row.item(Ink::Plain, human::duration(millis)),
        None => row,
    }
}

fn tokens(usage: &TokenUsage) -> Row {
    let mut row = Row::default();
    let part = |count: Option<u64>, what: &str| {
        count.filter(|count| *count > 0).map(|count| format!("{} {what}", human::count(count)))
    };
    let mut side = |count: Option<u64>, what: &str, parts: [Option<String>; 2]| {
        let Some(count) = count else { return };
        row = std::mem::take(&mut row).item(Ink::Plain, format!("{} {what}", human::count(count)));
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        if !parts.is_empty() {
            let parts = format!(" ({})", parts.join(", "));
            row = std::mem::take(&mut row).then(Ink::Quiet, parts);
        }
    };
    let read = part(usage.cache_read_tokens, "from cache");
    let written = part(usage.cache_write_tokens, "to cache");
    side(usage.input_tokens, "in", [read, written]);
    side(usage.output_tokens, "out", [part(usage.reasoning_tokens, "reasoning"), None]);
    row
}

fn fact(page: &mut Page, name: &str, value: Option<String>) {
    let Some(value) = value else { return };
    let label = label(name);
    let mut shown = SafeText::default();
    shown.push_line(&value, usize::MAX);
    let shown = shown.joined();
    let room = page.width().saturating_sub(label.width()).max(8);
    let rows: Vec<_> = wrap_line(shown.whole(), room).collect();
    page.hang_beginning(label, Ink::Plain, &rows, 3);
}

fn row(page: &mut Page, name: &str, value: Row) {
    let label = label(name);
    if value.width() == 0 {
    } else if label.width() + value.width() > page.width() {
        // Numbers are wrapped, not truncated.
        fact(page, name, Some(value.into_text()));
    } else {
        page.row(label.join(value));
    }
}

fn label(name: &str) -> Row {
    Row::new(Ink::Quiet, format!("    {name:<10}"))
}
