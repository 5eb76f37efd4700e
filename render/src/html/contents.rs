//! [`Contents`]: a list of sessions that are pages of their own.

use foldline_domain::{Outcome, Text, Timestamp};
use jiff::tz::TimeZone;
use maud::{Markup, html};

use super::{
    Page,
    label::{agent_family, icon},
    page::{Facts, file},
    text::line,
    time::{Clock, DATED},
};
use crate::text::human;

/// The script of a table of contents.
const SCRIPT: &str = include_str!("script/contents.js");

/// The number of characters of the prompts of a session that can be searched for.
const MOST_WORDS: usize = 4000;

/// A table of contents: a page that lists sessions, which are files next to it, the latest first, with a field that
/// searches titles and prompts. Like [`Page`], it needs no other file and no network, and is complete without its
/// script.
///
/// ```
/// use foldline_render::html::{Contents, Page};
///
/// let mut contents = Contents::default();
/// contents.add(&Page::default(), "sessions/1.html");
/// assert!(contents.render().contains("href=\"sessions/1.html\""));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Contents {
    rows: Vec<Row>,
    clock: Clock,
    note: Option<String>,
}

/// A session of the list.
#[derive(Clone, Debug)]
struct Row {
    address: String,
    title: String,
    agent: Option<String>,
    project: String,
    model: Option<String>,
    outcome: Option<Outcome>,
    reason: Option<String>,
    begun: Option<Timestamp>,
    duration: Option<u64>,
    tokens: u64,
    cost: Option<String>,
    bad: u64,
    words: String,
}

impl Contents {
    /// Shows all times in this zone instead of UTC, and names it.
    #[must_use]
    pub fn in_zone(mut self, zone: TimeZone) -> Self {
        self.clock = Clock(zone);
        self
    }

    /// Adds the session of a page, which is the file at `address`, relative to this one.
    pub fn add(&mut self, page: &Page, address: impl Into<String>) {
        self.rows.push(Row::new(page.facts(), address.into()));
    }

    /// Adds a note at the end of the page.
    pub fn set_note(&mut self, note: impl Into<String>) {
        self.note = Some(note.into());
    }

    /// The page as HTML.
    pub fn render(&self) -> String {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.begun));
        let zone = rows.iter().find_map(|row| self.clock.format(row.begun?, "%Z"));
        let body = html! {
            header.top { span.brand { (icon("i", "fold")) span { "Foldline" } } div.crumbs {} }
            main.page {
                div.lead { div {
                    h1 { "Sessions" }
                    p {
                        (human::number_of(rows.len(), "session"))
                        @if let Some(zone) = zone { ", times in " (line(zone)) }
                    }
                } }
                form.filters #filters role="search" {
                    div.find {
                        (icon("i", "search"))
                        input.field type="search" autocomplete="off" placeholder="Titles, prompts, agents, projects"
                            aria-label="Search sessions";
                        span.hits #shown role="status" {}
                    }
                }
                table.rows #rows {
                    caption.vh { "Sessions, the latest first" }
                    thead { tr {
                        @for (class, words) in COLUMNS { th scope="col" class=[class] { (words) } }
                    } }
                    @for (day, rows) in self.days(&rows) {
                        tbody {
                            tr.day { th colspan="10" scope="rowgroup" {
                                b { (day) } (human::number_of(rows.len(), "session"))
                            } }
                            @for row in rows { (self.row(row)) }
                        }
                    }
                }
                @if let Some(note) = &self.note {
                    footer.colophon { pre.out { (super::text::text(&**note)) } }
                }
            }
        };
        file("list", "Sessions", SCRIPT, &body)
    }

    /// The rows of each day.
    fn days<'r>(&self, rows: &[&'r Row]) -> Vec<(String, Vec<&'r Row>)> {
        let mut days: Vec<(String, Vec<&Row>)> = Vec::new();
        for row in rows {
            let day = row.begun.and_then(|at| self.clock.format(at, "%A, %-d %B %Y"));
            let day = day.unwrap_or_else(|| "No date".to_owned());
            match days.last_mut() {
                Some((last, of_day)) if *last == day => of_day.push(row),
                _ => days.push((day, vec![row])),
            }
        }
        days
    }

    fn row(&self, row: &Row) -> Markup {
        let (state, symbol) = match row.outcome {
            Some(Outcome::Cancelled) => ("cancelled", "deny"),
            Some(outcome) if outcome != Outcome::Success => ("failed", "fail"),
            _ => ("done", "ok"),
        };
        let agent = row.agent.as_deref().unwrap_or_default();
        html! {
            tr data-state=(state) data-words=(line(&*row.words)) {
                td.c-state { span.state data-state=(state) { (icon("i", symbol)) span.word { (state) } } }
                th.w scope="row" {
                    a href=(line(&*row.address)) { (line(&*row.title)) }
                    @if let Some(reason) = &row.reason { span.sub { (line(&**reason)) } }
                }
                td.c-project { (line(&*row.project)) }
                td.c-agent { span.agent data-agent=(agent_family(agent)) { (line(agent)) } }
                td.c-model { (line(row.model.as_deref().unwrap_or_default())) }
                td class="n c-begun" {
                    @if let Some(at) = row.begun {
                        span title=[self.clock.format(at, DATED)] { (self.clock.stamped(at, "%H:%M").unwrap_or_default()) }
                    }
                }
                td class="n c-dur" { @if let Some(millis) = row.duration { (human::duration(millis)) } }
                td class="n c-tokens" { @if row.tokens > 0 { (human::count(row.tokens)) } }
                td class="n c-cost" { @if let Some(cost) = &row.cost { (cost) } }
                td.n.c-bad.zero[row.bad == 0].bad[row.bad > 0] { (human::grouped(row.bad)) }
            }
        }
    }
}

/// The columns: the class, if the style sheet has one, and the heading.
const COLUMNS: [(Option<&str>, &str); 10] = [
    (None, "Status"),
    (None, "Title"),
    (Some("c-project"), "Project"),
    (Some("c-agent"), "Agent"),
    (Some("c-model"), "Model"),
    (Some("n c-begun"), "Begun"),
    (Some("n c-dur"), "Duration"),
    (Some("n c-tokens"), "Tokens"),
    (Some("n c-cost"), "Cost"),
    (Some("n c-bad"), "Failures"),
];

impl Row {
    fn new(facts: &Facts, address: String) -> Self {
        let session = facts.session();
        let text = |text: Option<&Text>| text.map(|text| text.decode().into_owned());
        let cwd = text(session.and_then(|session| session.cwd.as_ref())).unwrap_or_default();
        let project = cwd.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next();
        let usage = facts.used.tokens;
        let mut words = String::new();
        for turn in &facts.turns {
            if words.len() < MOST_WORDS {
                words.push_str(&turn.prompt);
                words.push(' ');
            }
        }
        Self {
            address,
            title: facts.title().into_owned(),
            agent: text(session.and_then(|session| session.agent.as_ref())),
            project: project.unwrap_or_default().to_owned(),
            model: text(session.and_then(|session| session.model.as_ref())),
            outcome: session.and_then(|session| session.outcome),
            reason: text(
                session
                    .filter(|session| session.outcome.is_some_and(|it| it != Outcome::Success))
                    .and_then(|session| session.outcome_reason.as_ref()),
            ),
            begun: facts.begun,
            duration: facts.duration(),
            tokens: usage
                .input_tokens
                .unwrap_or(0)
                .saturating_add(usage.output_tokens.unwrap_or(0)),
            cost: facts.used.cost(facts.is_cost_stated),
            bad: facts.bad,
            words,
        }
    }
}
