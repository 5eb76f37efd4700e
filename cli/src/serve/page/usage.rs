//! The page of the usage and of the results of tools.

use foldline_database::query::ToolTotals;
use foldline_domain::pricing::CostBasis;
use foldline_render::human;
use maud::{Markup, html};

use super::{
    chart::{bars, lying, small},
    frame::{brand, help, help_button, line, money, page},
};
use crate::serve::{
    chart::Amount,
    figures::{Asked, Stack, Time, Usage},
};

/// Tools of each table; the others are left out, and counted.
const MOST_TOOLS: usize = 15;

/// The page of the usage.
pub(in crate::serve) fn usage(usage: &Usage, asked: Asked) -> String {
    let cost = total(usage);
    let tokens = human::count(usage.total_tokens);
    let body = html! {
        header.top {
            (brand())
            nav.crumbs aria-label="Breadcrumb" {
                ol { li { a href="/" { "Sessions" } } li aria-current="page" { "Usage" } }
            }
            (help_button())
        }
        main.page {
            div.lead {
                div { h1 { "Usage" } p { "Days are those of this machine. ≈ marks what is estimated: the log states no cost." } }
                (choices(usage.time, asked.by))
            }
            div.charts {
                (bars("Cost", &cost, &usage.cost, dollars))
                (bars("Tokens", &tokens, &usage.tokens, count))
            }
            @if !usage.notes.is_empty() {
                ul.notes { @for note in &usage.notes { li { (line(note)) } } }
            }
            (tools("Tools by failures", &usage.tools, |tool| tool.failures, "No call failed."))
            (tools("Tools by duration", &usage.tools, |tool| tool.percentile(95).unwrap_or(0),
                "No duration is known."))
        }
        (help(&[(&["?"], "this help")], &html! {}))
    };
    page("usage", "Usage", &body)
}

/// Small charts for the list.
pub(in crate::serve) fn charts(usage: &Usage) -> Markup {
    let days = Time::ALL.into_iter().find(|(time, ..)| *time == usage.time);
    let days = match days.and_then(|(_, _, days)| days) {
        Some(days) => format!("{days} days"),
        None => "all".to_owned(),
    };
    html! {
        @if usage.is_any() {
            (small(&format!("Cost, {days}"), &total(usage), &usage.cost, dollars))
            (small(&format!("Tokens, {days}"), &human::count(usage.total_tokens), &usage.tokens, count))
        }
    }
}

fn total(usage: &Usage) -> String {
    usage.total_cost.map_or_else(
        || "unknown".to_owned(),
        |cost| money(cost.usd, cost.basis != CostBasis::Logged),
    )
}

/// Links, so that they need no script.
fn choices(shown: Time, stacked: Stack) -> Markup {
    let stack = |by: Stack| if by == Stack::Model { "model" } else { "kind" };
    let link = |time: &str, by: Stack| format!("/usage?time={time}&by={}", stack(by));
    let time = Time::ALL.into_iter().find(|(time, ..)| *time == shown).map_or("", |it| it.1);
    html! {
        nav.choices aria-label="Time and parts" {
            @for (value, name, _) in Time::ALL {
                a href=(link(name, stacked)) aria-current=[(value == shown).then_some("true")] { (name) }
            }
            span {}
            @for by in [Stack::Kind, Stack::Model] {
                a href=(link(time, by)) aria-current=[(by == stacked).then_some("true")] { "by " (stack(by)) }
            }
        }
    }
}

fn dollars(amount: Amount) -> String {
    money(amount.value, amount.is_estimated)
}

fn count(amount: Amount) -> String {
    // No log has as many tokens as a number has digits.
    human::count(amount.value as u64)
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
                                td { (tool.calls) }
                                td.bad[tool.failures > 0] { (tool.failures) }
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

fn failures(tool: &ToolTotals) -> f64 {
    tool.failures as f64
}

fn p95(tool: &ToolTotals) -> f64 {
    tool.percentile(95).unwrap_or(0) as f64
}

fn duration(millis: Option<i64>) -> String {
    millis.and_then(|millis| u64::try_from(millis).ok()).map(human::duration).unwrap_or_default()
}
