//! The side column: prompts as landmarks, tools, changed files, models.

use maud::{Markup, html};

use super::super::{
    label::{icon, path, readable},
    text::line,
    time::Clock,
};
use super::facts::{ChangedFile, Facts, Turn};
use crate::text::{call_text::ChangedLines, human};

/// The maximum number of rows of a table; further rows are summed.
const MOST_ROWS: usize = 12;

pub(super) fn side(facts: &Facts, clock: &Clock) -> Markup {
    html! {
        aside.side #side popover aria-label="Turns and usage" {
            button class="btn bare icon close" type="button" popovertarget="side"
                popovertargetaction="hide" { (icon("i", "fail")) span.vh { "Close" } }
            @if !facts.turns.is_empty() {
                section {
                    h2 { "Turns" }
                    ol.turns {
                        @for (number, one) in (1..).zip(&facts.turns) { (turn(number, one, clock)) }
                    }
                }
            }
            @if !facts.tools.is_empty() { (tools(facts)) }
            @if !facts.files.is_empty() { (files(facts)) }
            @if !facts.models.is_empty() { (models(facts)) }
        }
    }
}

fn turn(number: u64, turn: &Turn, clock: &Clock) -> Markup {
    let begun = turn.begun.and_then(|at| clock.format(at, "%H:%M"));
    let millis = turn.ended.and_then(|ended| ended.millis_since(turn.begun?)).filter(|ms| *ms > 0);
    let (active, all) = human::active(millis.map(|_| turn.active.millis), millis);
    let millis = active.map(|active| match all {
        Some(all) => format!("{active} of {all}"),
        None => active,
    });
    let calls = (turn.calls > 0).then(|| human::number_of(turn.calls, "call"));
    let known: Vec<_> = begun.into_iter().chain(millis).chain(calls).collect();
    html! {
        li {
            a href={ "#e" (turn.index.get()) } {
                span.num { (human::grouped(number)) }
                span.text dir="auto" { @if turn.prompt.is_empty() { "(empty)" } @else { (line(&*turn.prompt)) } }
                small {
                    (known.join(", "))
                    @if turn.bad > 0 { ", " b { (human::grouped(turn.bad)) " failed" } }
                }
            }
        }
    }
}

fn tools(facts: &Facts) -> Markup {
    let mut tools: Vec<_> = facts.tools.iter().collect();
    tools.sort_by_key(|(_, tool)| std::cmp::Reverse(tool.calls));
    let (shown, others) = tools.split_at(tools.len().min(MOST_ROWS));
    let row = |name: Markup, calls: u64, bad: u64, p95: Option<u64>| {
        html! {
            tr {
                td { (name) } td { (human::grouped(calls)) }
                td.bad[bad > 0] { (human::grouped(bad)) }
                td { @if let Some(p95) = p95 { (human::duration(p95)) } }
            }
        }
    };
    html! {
        section {
            table {
                caption.vh { "Tools" }
                thead { tr {
                    th scope="col" { "Tools" } th scope="col" { "calls" }
                    th scope="col" { "failed" } th scope="col" { "p95" }
                } }
                tbody {
                    @for (name, tool) in shown {
                        @let choice = html! {
                            button.tool type="button" data-tool=(line(&***name)) aria-pressed="false"
                                title="Show only the calls of this tool" { (line(readable(name))) }
                        };
                        (row(choice, tool.calls, tool.bad, tool.p95()))
                    }
                    @if !others.is_empty() {
                        (row(
                            html! { (human::number_of(others.len(), "other")) },
                            others.iter().map(|(_, tool)| tool.calls).sum(),
                            others.iter().map(|(_, tool)| tool.bad).sum(),
                            None,
                        ))
                    }
                }
            }
        }
    }
}

fn files(facts: &Facts) -> Markup {
    let mut files: Vec<_> = facts.files.iter().collect();
    let size = |lines: &ChangedLines| lines.added + lines.written + lines.removed;
    files.sort_by_key(|(_, file)| std::cmp::Reverse(size(&file.lines)));
    let (shown, others) = files.split_at(files.len().min(MOST_ROWS));
    html! {
        section {
            table {
                caption.vh { "Files changed" }
                thead { tr {
                    th scope="col" {
                        @if facts.is_served { a href="?view=changes" { "Files changed" } } @else { "Files changed" }
                    }
                    th scope="col" colspan="2" { (human::grouped(facts.files.len() as u64)) }
                } }
                tbody {
                    @for (file, ChangedFile { lines, first }) in shown {
                        tr {
                            td.w {
                                @match first {
                                    _ if facts.is_served => {
                                        a.path href={ "?view=changes#" (file) } { (path(file)) }
                                    }
                                    Some(first) => a.path href={ "#e" (first.get()) } title="Its first change" { (path(file)) },
                                    None => span.path { (path(file)) },
                                }
                            }
                            @let added = lines.added + lines.written;
                            td.plus { @if added > 0 { "+" (human::grouped(added as u64)) } }
                            td.minus { @if lines.removed > 0 { "−" (human::grouped(lines.removed as u64)) } }
                        }
                    }
                    @if !others.is_empty() {
                        tr { td.w { (human::number_of(others.len(), "other")) } td {} td {} }
                    }
                }
            }
        }
    }
}

fn models(facts: &Facts) -> Markup {
    let count = |n: Option<u64>| n.map(human::count);
    html! {
        section {
            table {
                caption.vh { "Usage by model" }
                thead { tr {
                    th scope="col" { "Models" } th scope="col" { "in" }
                    th scope="col" { "out" } th scope="col" { "cost" }
                } }
                tbody {
                    @for (model, used) in &facts.models {
                        @let usage = &used.tokens;
                        tr {
                            td.w { @if model.is_empty() { "unknown" } @else { (line(&**model)) } }
                            td { @if let Some(n) = count(usage.input_tokens) { (n) } }
                            td { @if let Some(n) = count(usage.output_tokens) { (n) } }
                            td { @if let Some(cost) = used.cost(facts.is_cost_stated) { (cost) } }
                        }
                    }
                }
            }
        }
    }
}
