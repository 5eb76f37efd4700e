//! The page of the usage and of the results of tools.

use foldline_database::{query::ToolTotals, usage::all_tokens};
use foldline_domain::pricing::{Cost, CostBasis};
use foldline_render::human;
use jiff::{Timestamp, tz::TimeZone};
use maud::{Markup, html};

use super::{
    chart::{Quantity, bars, count, lying, small, whole},
    chosen::chosen,
    frame::{brand, help, help_button, icon, line, money, page},
    list::select,
};
use crate::{
    answer::when,
    serve::{
        figures::{Dimension, NOT_STATED, Sum, Usage, kinds},
        filter::{Filter, Time, escaped},
    },
};

/// Tools of each table; the others are left out, and counted.
const MOST_TOOLS: usize = 15;

/// Rows of the table of usage; the others are left out, and counted.
const MOST_ROWS: usize = 500;

/// The ranges of the page, with their words.
const RANGES: [(Time, &str); 4] = [
    (Time::Week, "7 days"),
    (Time::Month, "30 days"),
    (Time::Quarter, "90 days"),
    (Time::Any, "all time"),
];

/// The page of the usage.
pub(in crate::serve) fn usage(
    usage: &Usage,
    filter: &Filter,
    agents: &[String],
    projects: &[String],
    zone: &TimeZone,
) -> String {
    let (cost, tokens) =
        (total_cost(&usage.total), human::grouped(all_tokens(&usage.total.tokens)));
    let days =
        |key: &str| listed(filter, Dimension::Day, key).unwrap_or_else(|| filter.address("/"));
    let body = html! {
        header.top {
            (brand())
            nav.crumbs aria-label="Breadcrumb" {
                ol {
                    li { a href=(filter.from(0).address("/")) { "Sessions" } }
                    li aria-current="page" { "Usage" }
                }
            }
            (help_button())
        }
        main.page {
            div.lead {
                div {
                    h1 { "Usage" }
                    p.total {
                        (cost) ", " (tokens) " tokens in "
                        a href=(filter.from(0).address("/")) { (human::number_of(usage.total.sessions, "session")) }
                    }
                    p { "Days are those of this machine. ≈ marks what is estimated: the log states no cost." }
                }
            }
            (choices(usage.by, filter, agents, projects, zone))
            div.charts #usage {
                (bars(&dollars(&cost), &usage.cost, &days))
                (bars(&token_count(&tokens), &usage.tokens, &days))
            }
            @if !usage.notes.is_empty() {
                ul.notes { @for note in &usage.notes { li { (line(note)) } } }
            }
            (sums(usage, filter))
            (tools("Tools by failures", &usage.tools, |tool| tool.failures, "No call failed."))
            (tools("Tools by duration", &usage.tools, |tool| tool.percentile(95).unwrap_or(0),
                "No duration is known."))
        }
        (help(&[(&["←", "→"], "previous, next bar of a chart"), (&["?"], "this help")], &html! {}))
    };
    page("usage", "Usage", &body)
}

/// Small charts for the list, which lead to the page.
pub(in crate::serve) fn charts(usage: &Usage, filter: &Filter) -> Markup {
    let days = RANGES.into_iter().find(|(time, _)| *time == filter.time).map_or("", |it| it.1);
    let (cost, tokens) = (total_cost(&usage.total), human::count(all_tokens(&usage.total.tokens)));
    let (cost_title, tokens_title) = (format!("Cost, {days}"), format!("Tokens, {days}"));
    html! {
        @if usage.is_any() {
            a.chart href=(filter.address("/usage")) {
                (small(&Quantity { title: &cost_title, ..dollars(&cost) }, &usage.cost))
            }
            a.chart href=(filter.address("/usage")) {
                (small(&Quantity { title: &tokens_title, ..token_count(&tokens) }, &usage.tokens))
            }
        }
    }
}

fn dollars(total: &str) -> Quantity<'_> {
    Quantity { title: "Cost", total, exact: |it| money(it.value, it.is_estimated), short: at_axis }
}

/// Dollars without the zeros at their end.
fn at_axis(dollars: f64) -> String {
    let shown = human::dollars(dollars);
    shown.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn token_count(total: &str) -> Quantity<'_> {
    Quantity {
        title: "Tokens",
        total,
        exact: count,
        short: |it| human::count(whole(it)).replace(".0", ""),
    }
}

fn total_cost(total: &Sum) -> String {
    total.cost.map_or_else(|| "unknown cost".to_owned(), spent)
}

fn spent(cost: Cost) -> String {
    money(cost.usd, cost.basis != CostBasis::Logged)
}

/// The address of the page with a filter.
fn address(by: Dimension, filter: &Filter) -> String {
    let address = filter.address("/usage");
    let sign = if address.contains('?') { '&' } else { '?' };
    match by {
        Dimension::Day => address,
        by => format!("{address}{sign}by={}", by.names().0),
    }
}

/// Links and a form, so that they need no script: what usage is divided by, its time, and the filter of the list.
fn choices(
    by: Dimension,
    filter: &Filter,
    agents: &[String],
    projects: &[String],
    zone: &TimeZone,
) -> Markup {
    let has_days = !filter.since.is_empty() || !filter.until.is_empty();
    let range =
        |time: Time| Filter { time, since: String::new(), until: String::new(), ..filter.from(0) };
    let (since, until) = shown_days(filter, zone);
    html! {
        div.ranges {
            nav.choices aria-label="Divided by" {
                @for (it, _, words) in Dimension::ALL {
                    a href=(address(it, filter)) aria-current=[(it == by).then_some("true")] { (words) }
                }
            }
            nav.choices aria-label="Time" {
                @for (time, words) in RANGES {
                    a href=(address(by, &range(time))) aria-current=[(!has_days && time == filter.time).then_some("true")] { (words) }
                }
            }
        }
        form.filters #asked action="/usage" method="get" role="search" {
            div.find {
                (icon("i", "search"))
                input.field type="search" name="q" value=(filter.q) autocomplete="off"
                    placeholder="Titles, prompts, files, commands" aria-label="Search sessions";
            }
            @if by != Dimension::Day { input type="hidden" name="by" value=(by.names().0); }
            @if filter.time != Time::Any { input type="hidden" name="time" value=(filter.time_name()); }
            @if !filter.status.is_empty() { input type="hidden" name="status" value=(filter.status); }
            (select("agent", "Agent", &filter.agent, &[("", "All agents")], agents))
            (select("project", "Project", &filter.project, &[("", "All projects")], projects))
            label.date { "from " input.field type="date" name="since" value=(since); }
            label.date { "to " input.field type="date" name="until" value=(until); }
            button.btn { "Show" }
            (chosen(filter, false, &|filter| address(by, filter)))
        }
    }
}

/// The first and the last day of stated times, which may be months.
fn shown_days(filter: &Filter, zone: &TimeZone) -> (String, String) {
    let day = |millis: i64| {
        let day = Timestamp::from_millisecond(millis).map(|at| at.to_zoned(zone.clone()).date());
        day.map_or_else(|_| String::new(), |day| day.to_string())
    };
    let first = when::parse(&filter.since, zone).map_or_else(|_| String::new(), |it| day(it.start));
    let last = when::parse(&filter.until, zone);
    (first, last.map_or_else(|_| String::new(), |it| day(it.end.saturating_sub(1))))
}

/// The address of the sessions of a value, in the list or alone.
fn listed(filter: &Filter, by: Dimension, key: &str) -> Option<String> {
    let (key, all) = (key.to_owned(), filter.from(0));
    let narrow = match by {
        Dimension::Day | Dimension::Month => {
            Filter { time: Time::Any, since: key.clone(), until: key, ..all }
        }
        Dimension::Agent => Filter { agent: key, ..all },
        Dimension::Project => Filter { project: key, ..all },
        Dimension::Model => Filter { model: key, ..all },
        Dimension::Branch => Filter { branch: key, ..all },
        Dimension::Host => Filter { host: key, ..all },
        Dimension::User => Filter { user: key, ..all },
        Dimension::Session => return Some(format!("/sessions/{}", escaped(&key))),
        Dimension::Kind => return None,
    };
    Some(narrow.address("/"))
}

/// The table below the charts: the rows of `foldline usage`.
fn sums(usage: &Usage, filter: &Filter) -> Markup {
    let title = format!("Usage by {}", usage.by.names().1.to_lowercase());
    html! {
        section.tools #sums {
            h2 { (title) }
            div.scroll tabindex="0" role="group" aria-label=(title) { table.numbers {
                caption.vh { (title) }
                @if usage.by == Dimension::Kind { (by_kind(usage)) } @else { (by_value(usage, filter)) }
            } }
            @if usage.rows.len() > MOST_ROWS {
                p {
                    (human::number_of(usage.rows.len() - MOST_ROWS, "other row")) " not shown: "
                    code { "foldline usage --by " (usage.by.names().0) } " has all"
                }
            }
        }
    }
}

fn by_value(usage: &Usage, filter: &Filter) -> Markup {
    let has_costs = usage.rows.iter().any(|row| row.cost.is_some());
    let value = |row: &Sum| match has_costs {
        true => row.cost.map_or(0.0, |cost| cost.usd),
        false => all_tokens(&row.tokens) as f64,
    };
    let most = usage.rows.iter().map(value).fold(0.0, f64::max);
    let total = || html! { "Total" };
    html! {
        thead { tr {
            th scope="col" { (usage.by.names().1) }
            th scope="col" { "Cost" } th scope="col" { span.vh { "Share of the most" } }
            th scope="col" { "Input" } th scope="col" { "Output" }
            th scope="col" { "Cache read" } th scope="col" { "Cache write" }
            th scope="col" { "Sessions" }
        } }
        tbody {
            @for row in usage.rows.iter().take(MOST_ROWS) {
                @let name = row.title.as_deref().or(row.key.as_deref());
                (figures(row, &html! { td.w { (lying(value(row), most, "a")) } }, &html! {
                    @match row.key.as_deref().and_then(|key| listed(filter, usage.by, key)) {
                        Some(link) => a href=(link) { (line(name.unwrap_or_default())) },
                        None => (line(name.unwrap_or(NOT_STATED))),
                    }
                }))
            }
        }
        tfoot { (figures(&usage.total, &html! { td.w {} }, &total())) }
    }
}

fn figures(row: &Sum, bar: &Markup, name: &Markup) -> Markup {
    let tokens = &row.tokens;
    let count = |count: Option<u64>| count.map(human::grouped).unwrap_or_default();
    html! {
        tr {
            th scope="row" { (name) }
            td { (row.cost.map(spent).unwrap_or_default()) } (bar)
            td { (count(tokens.input_tokens)) } td { (count(tokens.output_tokens)) }
            td { (count(tokens.cache_read_tokens)) } td { (count(tokens.cache_write_tokens)) }
            td { (human::grouped(row.sessions as u64)) }
        }
    }
}

fn by_kind(usage: &Usage) -> Markup {
    let all = all_tokens(&usage.total.tokens) as f64;
    let kinds = kinds(&usage.total.tokens);
    html! {
        thead { tr {
            th scope="col" { "Kind" } th scope="col" { "Tokens" }
            th scope="col" { "Share" } th scope="col" { span.vh { "Share, drawn" } }
        } }
        tbody {
            @for (kind, tokens) in kinds {
                tr {
                    th scope="row" { (kind) }
                    td { (human::grouped(tokens)) }
                    td { @if all > 0.0 { (format!("{:.1} %", tokens as f64 / all * 100.0)) } }
                    td.w { (lying(tokens as f64, all, "a")) }
                }
            }
        }
    }
}

/// The tools for which this is most, with bars for how many calls failed and how long they took.
fn tools(title: &str, tools: &[ToolTotals], key: fn(&ToolTotals) -> i64, none: &str) -> Markup {
    let mut sorted: Vec<&ToolTotals> = tools.iter().filter(|tool| key(tool) > 0).collect();
    sorted.sort_by_key(|tool| std::cmp::Reverse((key(tool), tool.calls)));
    let others = sorted.len().saturating_sub(MOST_TOOLS);
    sorted.truncate(MOST_TOOLS);
    let most = |value: fn(&ToolTotals) -> f64| tools.iter().map(value).fold(0.0, f64::max);
    let (most_failures, most_millis) = (most(failures), most(p95));
    html! {
        section.tools {
            h2 { (title) }
            @if sorted.is_empty() { p { (none) } } @else {
                div.scroll tabindex="0" role="group" aria-label=(title) { table.numbers {
                    caption.vh { (title) }
                    thead { tr {
                        th scope="col" { "Tool" }
                        th scope="col" { "Calls" }
                        th scope="col" { "Failures" } th scope="col" { span.vh { "Share of the most failures" } }
                        th scope="col" { "Rate" }
                        th scope="col" { "p50" }
                        th scope="col" { "p95" } th scope="col" { span.vh { "Share of the longest" } }
                    } }
                    tbody {
                        @for tool in sorted {
                            tr {
                                th scope="row" { (line(&tool.tool)) }
                                td { (number(tool.calls)) }
                                td.bad[tool.failures > 0] { (number(tool.failures)) }
                                td.w { (lying(failures(tool), most_failures, "bad")) }
                                td { @if let Some(rate) = tool.failure_rate() { (format!("{:.1} %", rate * 100.0)) } }
                                td { (duration(tool.percentile(50))) }
                                td { (duration(tool.percentile(95))) }
                                td.w { (lying(p95(tool), most_millis, "a")) }
                            }
                        }
                    }
                } }
                @if others > 0 { p { (human::number_of(others, "other tool")) " not shown" } }
            }
        }
    }
}

fn number(count: i64) -> String {
    u64::try_from(count).map_or_else(|_| count.to_string(), human::grouped)
}

fn failures(tool: &ToolTotals) -> f64 {
    tool.failures as f64
}

fn p95(tool: &ToolTotals) -> f64 {
    tool.percentile(95).unwrap_or(0) as f64
}

fn duration(millis: Option<i64>) -> String {
    millis.and_then(|millis| u64::try_from(millis).ok()).map(human::duration).unwrap_or_default()
}
