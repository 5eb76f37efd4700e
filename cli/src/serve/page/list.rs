//! The list of sessions.

use foldline_database::query::SessionOrder;
use foldline_render::{html::agent_family, human};
use jiff::{Timestamp, Zoned, tz::TimeZone};
use maud::{Markup, html};

use super::{
    chosen::chosen,
    frame::{brand, help, help_button, icon, line, money, page, spent},
};
use crate::serve::{
    filter::{Filter, Known, ORDERS, Time},
    row_detail::RowDetail,
    sessions::{Session, Sessions, project},
    status::Status,
};

const KEYS: [(&[&str], &str); 3] =
    [(&["j", "k"], "next, previous session"), (&["/"], "search"), (&["?"], "this help")];

const STATUSES: [(&str, &str); 5] = [
    ("", "All"),
    ("running", "Running"),
    ("waiting", "Waiting"),
    ("failed", "Failed"),
    ("done", "Done"),
];

/// The page with the list.
pub(in crate::serve) fn list(
    sessions: &Sessions,
    filter: &Filter,
    known: &Known,
    now: &Markup,
    zone: &TimeZone,
) -> String {
    let body = html! {
        header.top { (brand()) div.crumbs {} (help_button()) }
        main.page {
            (lead(filter, known, now, zone))
            (filters(filter, known))
            div #list data-events="/events" { (rows(sessions, filter, zone)) }
        }
        p.vh role="status" #news {}
        (help(&KEYS, &html! {}))
    };
    page("list", "Sessions", &body)
}

/// What there is, and charts, which the script asks for: they take longer than the list.
fn lead(filter: &Filter, known: &Known, now: &Markup, zone: &TimeZone) -> Markup {
    let zone = Timestamp::now().to_zoned(zone.clone()).strftime("%Z").to_string();
    html! {
        div.lead {
            div {
                h1 { "Sessions" }
                p {
                    (human::number_of(known.counts.total, "session"))
                    " by " (human::number_of(known.agents.len(), "agent"))
                    " in " (human::number_of(known.projects.len(), "project"))
                    ", times in " (line(&zone)) ", " a #usage-link href=(filter.from(0).address("/usage")) { "usage and tools" }
                }
                (now)
            }
            div.glance #charts data-from="/charts" {}
        }
    }
}

fn filters(filter: &Filter, known: &Known) -> Markup {
    html! {
        form.filters #filters role="search" method="get" {
            div.find {
                (icon("i", "search"))
                input.field type="search" name="q" value=(filter.q) autocomplete="off"
                    placeholder="Titles, prompts, files, commands" aria-label="Search sessions";
                kbd { "/" }
            }
            fieldset.seg {
                legend.vh { "Status" }
                @for (value, word) in STATUSES {
                    label {
                        input type="radio" name="status" value=(value) checked[filter.status == value];
                        span {
                            (word)
                            @if let Some(count) = known.counts.of(value) { small { (human::grouped(count)) } }
                        }
                    }
                }
            }
            (select("agent", "Agent", &filter.agent, &[("", "All agents")], &known.agents))
            (select("project", "Project", &filter.project, &[("", "All projects")], &known.projects))
            (select("time", "Time", filter.time_name(), &Time::ALL.map(|(_, name, words)| (name, words)), &[]))
            (select("sort", "Order", filter.sort_name(), &ORDERS.map(|(_, name, words)| (name, words)), &[]))
            (chosen(filter, true, &|filter| filter.address("/")))
            noscript { button.btn { "Search" } }
        }
    }
}

/// A selection of named choices, followed by names from logs.
pub(super) fn select(
    name: &str,
    label: &str,
    chosen: &str,
    named: &[(&str, &str)],
    others: &[String],
) -> Markup {
    html! {
        select.field name=(name) aria-label=(label) autocomplete="off" {
            @for (value, words) in named {
                option value=(value) selected[chosen == *value] { (words) }
            }
            // A path, for example, where the others are names.
            @if !chosen.is_empty() && !named.iter().any(|(value, _)| *value == chosen) && !others.iter().any(|it| it == chosen) {
                option value=(chosen) selected { (line(chosen)) }
            }
            @for other in others {
                option value=(other) selected[chosen == other] { (line(other)) }
            }
        }
    }
}

/// The table: running sessions first, then the others by day.
pub(in crate::serve) fn rows(found: &Sessions, filter: &Filter, zone: &TimeZone) -> Markup {
    let sessions = &*found.part;
    let groups = match filter.sort {
        SessionOrder::Latest => days(sessions, zone),
        _ => vec![(None, sessions.iter().collect())],
    };
    if sessions.is_empty() {
        return empty(filter, found.total);
    }
    let words = ORDERS.into_iter().find(|(sort, ..)| *sort == filter.sort).map_or("", |it| it.2);
    html! {
        table.rows #rows {
            caption.vh { "Sessions, " (words.to_lowercase()) }
            thead { tr {
                th scope="col" { span.word { "Status" } }
                th scope="col" { "Title" }
                th scope="col" { "Project" }
                th scope="col" class="c-agent" { "Agent" }
                th scope="col" class="c-model" { "Model" }
                (heading(filter, SessionOrder::Latest, "n", "Begun"))
                (heading(filter, SessionOrder::Duration, "n c-dur", "Duration"))
                (heading(filter, SessionOrder::Tokens, "n c-tokens", "Tokens"))
                (heading(filter, SessionOrder::Cost, "n", "Cost"))
                (heading(filter, SessionOrder::Failures, "n", "Failures"))
            } }
            @for (day, sessions) in &groups {
                tbody {
                    @if let Some(day) = day {
                        tr.day { th colspan="10" scope="rowgroup" { b { (day) } (sums(sessions)) } }
                    }
                    @for session in sessions { (row(session, day.is_some(), zone)) }
                }
            }
        }
        (pages(found, filter))
    }
}

/// Which of how many sessions are shown, and links to the others.
fn pages(found: &Sessions, filter: &Filter) -> Markup {
    let (first, last) =
        (u64::from(filter.offset) + 1, u64::from(filter.offset) + found.part.len() as u64);
    let before = (filter.offset > 0).then(|| filter.offset.saturating_sub(filter.limit));
    let link = |offset: u32| filter.from(offset).address("/");
    html! {
        nav.pages aria-label="Pages" {
            @if let Some(before) = before { a rel="prev" href=(link(before)) { "Previous" } } @else { span {} }
            @match found.next.is_none() && before.is_none() {
                true => span { (human::number_of(found.part.len(), "session")) },
                false => span { (human::grouped(first)) "–" (human::grouped(last)) " of " (human::number_of(found.total, "session")) },
            }
            @if let Some(next) = found.next { a rel="next" href=(link(next)) { "Next" } } @else { span {} }
        }
    }
}

/// Groups of sessions: running ones first, then the others by day, and those without a time at the end.
fn days<'s>(sessions: &'s [Session], zone: &TimeZone) -> Vec<(Option<String>, Vec<&'s Session>)> {
    let (now, past): (Vec<_>, Vec<_>) = sessions
        .iter()
        .partition(|session| matches!(session.status, Status::Running | Status::Waiting));
    let mut days: Vec<(Option<String>, Vec<&Session>)> = Vec::new();
    if !now.is_empty() {
        days.push((Some("Now".to_owned()), now));
    }
    let today = Timestamp::now().to_zoned(zone.clone()).date();
    let mut undated = Vec::new();
    for session in past {
        let Some(at) = moment(session.ended.or(session.began), zone) else {
            undated.push(session);
            continue;
        };
        let day = match at.date() {
            date if date == today => "Today".to_owned(),
            date if date.tomorrow().is_ok_and(|next| next == today) => "Yesterday".to_owned(),
            _ => at.strftime("%A, %-d %B %Y").to_string(),
        };
        match days.last_mut() {
            Some((Some(last), of_day)) if *last == day => of_day.push(session),
            _ => days.push((Some(day), vec![session])),
        }
    }
    if !undated.is_empty() {
        days.push((Some("No date".to_owned()), undated));
    }
    days
}

/// The heading of a sortable column.
fn heading(filter: &Filter, sort: SessionOrder, class: &str, words: &str) -> Markup {
    let is_sorted = filter.sort == sort;
    let to = Filter { sort, ..filter.from(0) };
    html! {
        th scope="col" class=(class) aria-sort=[is_sorted.then_some("descending")] {
            a href=(to.address("/")) { (words) }
        }
    }
}

/// A message for an empty list.
fn empty(filter: &Filter, total: u64) -> Markup {
    let is_all = filter == &Filter::default();
    html! {
        div.lead {
            div {
                @if is_all {
                    h2 { "No sessions yet" }
                    p { "A session appears here as soon as an agent writes its log." }
                } @else if total > 0 {
                    h2 { "No more sessions" }
                    p { a href=(filter.from(0).address("/")) { "Show the first of " (human::grouped(total)) } }
                } @else {
                    h2 { "No matching sessions" }
                    p { a href="/" { "Show all" } }
                }
            }
        }
    }
}

fn sums(sessions: &[&Session]) -> Markup {
    let cost: f64 = sessions.iter().filter_map(|session| session.cost_usd).sum();
    let is_estimated = sessions.iter().any(|session| session.is_estimated());
    let tokens: i64 =
        sessions.iter().filter_map(|session| session.tokens).fold(0, i64::saturating_add);
    html! {
        (human::number_of(sessions.len(), "session"))
        @if cost > 0.0 { ", " (money(cost, is_estimated)) }
        @if let Ok(tokens @ 1..) = u64::try_from(tokens) { ", " (human::count(tokens)) " tokens" }
    }
}

/// A row, with the time of day if it is below the heading of a day.
fn row(session: &Session, has_day: bool, zone: &TimeZone) -> Markup {
    let Session { status, path, .. } = session;
    let agent = session.agent.as_deref().unwrap_or_default();
    let project = project(session.project.as_deref().unwrap_or_default());
    let begun = match (has_day, begins_on_its_day(session, zone)) {
        (true, true) => "%H:%M",
        (true, false) => "%-d %b %H:%M",
        (false, _) => "%-d %b %Y",
    };
    let positive = |n: Option<i64>| n.and_then(|n| u64::try_from(n).ok());
    html! {
        tr data-state=(status.as_str()) data-written=[session.written] {
            td.c-state {
                span.state data-state=(status.as_str()) {
                    @match status.symbol().map(|symbol| if is_stopped(session) { "deny" } else { symbol }) {
                        Some(symbol) => (icon(if *status == Status::Running { "i spin" } else { "i" }, symbol)),
                        None => (icon("i", "ok")),
                    }
                    span.word { (word(session)) }
                }
            }
            th.w scope="row" {
                @if session.agents > 0 { small.agents { (human::number_of(session.agents, "agent")) } }
                a href=(path) {
                    (line(session.name()))
                }
                @if let Some(second) = &session.second { (below(second)) }
            }
            td.c-project { (line(project)) }
            td.c-agent { span.agent data-agent=(agent_family(agent)) { (line(agent_name(agent))) } }
            td.c-model { (line(session.model.as_deref().unwrap_or_default())) }
            td class="n c-begun" {
                @if let Some(at) = moment(session.began, zone) {
                    time datetime=(at.timestamp()) title=(at.timestamp().strftime("%F %T UTC")) {
                        (at.strftime(begun))
                    }
                }
            }
            td class="n c-dur" {
                (spent(positive(session.active_ms), positive(session.duration_ms)))
            }
            td class="n c-tokens" {
                @if let Some(tokens) = positive(session.tokens) { (human::count(tokens)) }
            }
            td class="n c-cost" { @if let Some(cost) = session.cost_usd { (money(cost, session.is_estimated())) } }
            td.n.c-bad.zero[session.failures == 0].bad[session.failures > 0] { (human::grouped(session.failures.unsigned_abs())) }
        }
    }
}

/// Whether the session began on the day under which it is in the list.
fn begins_on_its_day(session: &Session, zone: &TimeZone) -> bool {
    let now = Timestamp::now().as_millisecond();
    let is_open = matches!(session.status, Status::Running | Status::Waiting);
    let listed = if is_open { Some(now) } else { session.ended.or(session.began) };
    let date = |millis| moment(millis, zone).map(|at| at.date());
    date(session.began) == date(listed)
}

/// The status in a word, as the log states it.
fn word(session: &Session) -> String {
    match session.outcome.as_deref() {
        Some(outcome @ ("cancelled" | "limit_reached")) => outcome.replace('_', " "),
        _ => session.status.as_str().to_owned(),
    }
}

/// Whether it was stopped, and did not fail by itself.
fn is_stopped(session: &Session) -> bool {
    matches!(session.outcome.as_deref(), Some("cancelled" | "limit_reached"))
}

/// The line below a title.
fn below(second: &RowDetail) -> Markup {
    match second {
        RowDetail::Asks(text) => html! { span class="sub ask" { (line(text)) } },
        RowDetail::Says(text) => html! { span.sub { (line(text)) } },
        RowDetail::Found(path, entry, parts, hits) => html! {
            a class="sub hit" href={ (path) "?at=" (entry) "#e" (entry) } {
                @if hits.count > 1 { small { (hits.count) @if !hits.are_all { "+" } " hits" } " " }
                @for (text, is_match) in parts {
                    @if *is_match { mark { (line(text)) } } @else { (line(text)) }
                }
            }
        },
    }
}

/// The names of agents as their makers write them; others are as in their logs.
pub(super) fn agent_name(agent: &str) -> &str {
    const NAMES: [(&str, &str); 18] = [
        ("claude-code", "Claude Code"),
        ("codex", "Codex"),
        ("droid", "Droid"),
        ("gemini", "Gemini"),
        ("cursor", "Cursor"),
        ("qwen", "Qwen Code"),
        ("kimi", "Kimi"),
        ("kilo", "Kilo Code"),
        ("goose", "Goose"),
        ("grok", "Grok Build"),
        ("copilot", "Copilot"),
        ("copilot-chat", "Copilot Chat"),
        ("amp", "Amp"),
        ("cline", "Cline"),
        ("roo-code", "Roo Code"),
        ("zed", "Zed"),
        ("hermes", "Hermes"),
        ("antigravity", "Antigravity"),
    ];
    NAMES.into_iter().find(|(name, _)| *name == agent).map_or(agent, |(_, name)| name)
}

fn moment(millis: Option<i64>, zone: &TimeZone) -> Option<Zoned> {
    Some(Timestamp::from_millisecond(millis?).ok()?.to_zoned(zone.clone()))
}
