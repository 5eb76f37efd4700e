//! Prints what is going on, on a terminal of 24 lines.

use std::io::{self, Write};

use foldline_database::query::SessionRow;
use foldline_domain::pricing::{Cost, CostBasis};
use foldline_render::{human, terminal::neutralise_line};

use super::{Activity, Running, Today};
use crate::{
    answer::{Kind, Layout, Listing, Value},
    verbs::sessions,
    wrap::{JOINT, wrap},
};

/// The number of last sessions.
pub(super) const RECENT: usize = 6;

/// The largest number of printed running sessions.
const RUNNING: usize = 4;

/// The largest number of printed limits.
const LIMITS: usize = 3;

/// The width of the words in front of the lines.
const INDENT: usize = 11;

pub(super) fn print(
    today: &Today,
    recent: &[SessionRow],
    claude_days: Option<u64>,
    now: i64,
    layout: Layout<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Layout { width, zone, .. } = layout;
    if !today.running.is_empty() {
        running(&today.running).write_table(out, layout)?;
        match today.running.len().saturating_sub(RUNNING) {
            0 => {}
            more => writeln!(out, "{more} more run: foldline sessions --running")?,
        }
        writeln!(out)?;
    }
    let mut line = |name: &str, text: &str| {
        writeln!(out, "{}", wrap(&format!("{name:<INDENT$}{text}"), width, INDENT))
    };
    line("today", &words(&today.today))?;
    line("this week", &words(&today.week))?;
    for (at, (agent, limit)) in today.limits.iter().take(LIMITS).enumerate() {
        let name = if at == 0 { "limits" } else { "" };
        line(name, &format!("{}, {}", neutralise_line(agent), Today::limit(limit, now, zone)))?;
    }
    writeln!(out)?;
    sessions::listing(recent).write_table(out, layout)?;
    if let Some(days) = claude_days {
        let days = human::number_of(days, "day");
        let said =
            format!("Claude Code deletes logs after {days}; `foldline keep on` keeps copies.");
        writeln!(out, "\n{}", wrap(&said, width, 0))?;
    }
    let next = "foldline show: read the latest · foldline search TEXT: find a text · foldline --help: more";
    let next =
        next.replace("foldline ", &format!("foldline{JOINT}")).replace(": ", &format!(":{JOINT}"));
    writeln!(out, "\n{}", wrap(&next, width, 0))
}

/// The running sessions, and what they do or ask.
fn running(running: &[Running]) -> Listing {
    let columns = [
        ("state", Kind::Id),
        ("title", Kind::Subject),
        ("project", Kind::Folder),
        ("call", Kind::Text),
    ];
    let mut listing = Listing::new(&columns).dropping("project call");
    let text = |text: Option<&str>| text.map_or(Value::Null, |text| Value::Text(text.to_owned()));
    listing.rows.extend(running.iter().take(RUNNING).map(|row| {
        let Running { session, call } = row;
        let state = if row.is_waiting() { "waiting" } else { "running" };
        let call = call.as_ref().map(|call| {
            let verb = if call.waiting > 0 { " asks" } else { "" };
            format!("{}{verb}: {}", call.tool, call.what)
        });
        vec![
            text(Some(state)),
            text(session.title.as_deref()),
            text(session.project.as_deref()),
            text(call.as_deref()),
        ]
    }));
    listing
}

/// `3 sessions (1 failed), 1.2M tokens, ≈$3.20, 2 failed calls`.
fn words(activity: &Activity) -> String {
    let Activity { sessions, failed, failures, tokens, cost } = activity;
    if *sessions == 0 {
        return "no sessions".to_owned();
    }
    let mut parts = vec![human::number_of(*sessions, "session")];
    if *failed > 0 {
        parts[0] += &format!(" ({failed} failed)");
    }
    if *tokens > 0 {
        parts.push(format!("{} tokens", human::count(*tokens)));
    }
    parts.extend(cost.map(|Cost { usd, basis }| {
        let mark = if basis == CostBasis::Logged { "" } else { "≈" };
        format!("{mark}${usd:.2}")
    }));
    if *failures > 0 {
        parts.push(human::number_of(*failures, "failed call"));
    }
    parts.join(", ")
}
