//! The lines that introduce a session.

use foldline_database::query::SessionRow;
use foldline_render::human;

use crate::{
    mcp::{call::Call, quote::quoted},
    origin,
};

/// The name of a session and its figures, and below them, as text of its log: its title, agent, model and folder.
pub(super) fn session_head(call: &Call<'_>, session: &SessionRow, name: &str) -> String {
    let count = |number: i64, thing: &str| human::number_of(number.max(0), thing);
    let mut facts = vec![name.to_owned()];
    facts.extend(session.began.map(|at| call.minute(Some(at))));
    facts.extend(session.duration_ms.and_then(|it| it.try_into().ok()).map(human::duration));
    facts.push(count(session.entries, "entry"));
    facts.push(count(session.calls, "call"));
    if session.agents > 0 {
        facts.push(count(session.agents, "sub-agent"));
    }
    if session.failures > 0 {
        facts.push(format!("{} failed", session.failures));
    }
    facts.extend(session.cost_usd.map(|cost| {
        let is_logged = session.cost_basis.as_deref() == Some("logged");
        format!("{}{}", if is_logged { "" } else { "≈" }, human::dollars(cost))
    }));
    match session.outcome.as_deref() {
        Some("failed" | "limit_reached" | "cancelled") => {
            facts.push("ended without success".to_owned());
        }
        _ if Call::is_running(session) => facts.push("running, perhaps this session".to_owned()),
        _ => {}
    }
    format!("{}\n{}", facts.join(", "), quoted(&stated(call, session)))
}

/// What the log of a session states about it, on one line.
fn stated(call: &Call<'_>, session: &SessionRow) -> String {
    let text = |text: &Option<String>, most| {
        Some(call.line(text.as_deref()?, most)).filter(|text| !text.is_empty())
    };
    let title = text(&session.title, 120).unwrap_or_else(|| "(no title)".to_owned());
    let facts = [text(&session.agent, 40), text(&session.model, 60), text(&session.cwd, 200)];
    let mut facts: Vec<_> = facts.into_iter().flatten().collect();
    // Of this machine it is known, and would be said of each session.
    if session.host.is_some() && session.host != origin::host() {
        let from = [&session.user, &session.host].map(|name| text(name, 60).unwrap_or_default());
        facts.push(from.join("@"));
    }
    if facts.is_empty() { title } else { format!("{title} ({})", facts.join(", ")) }
}
