//! The facts at the top of a page.

use foldline_domain::{Allowed, Authority, Outcome, Session, Text, TokenUsage};
use maud::{Markup, html};

use super::super::{
    label::{agent_family, icon},
    text::line,
    time::{Clock, DATED},
};
use super::facts::Facts;
use crate::human;

/// The totals of a session with its sub-agents, in place of those of its own log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Sub-agents.
    pub agents: u64,
    /// Tool calls.
    pub calls: u64,
    /// Failed tool calls.
    pub failures: u64,
    /// Tokens of input.
    pub input_tokens: Option<u64>,
    /// Tokens of output.
    pub output_tokens: Option<u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Whether the cost is an estimate, at least in part.
    pub is_estimated: bool,
}

impl Totals {
    fn cost(&self) -> Option<String> {
        let mark = if self.is_estimated { "≈ " } else { "" };
        self.cost_usd.map(|cost| format!("{mark}{}", human::dollars(cost)))
    }
}

/// The facts; `moment` describes their moment in words, if it is not the present.
pub(super) fn about(
    facts: &Facts,
    totals: Option<&Totals>,
    title: &str,
    moment: Option<&str>,
    clock: &Clock,
) -> Markup {
    let none = Session::default();
    let session = facts.session().unwrap_or(&none);
    html! {
        header.about data-calls=(facts.calls) data-bad=(facts.bad) {
            h1 dir="auto" { (line(title)) }
            div.row {
                @if let Some(moment) = moment {
                    span class="state chip when-past" { (icon("i", "clock")) "as it was " (line(moment)) }
                }
                (outcome(session))
                @let (running, waiting) = facts.open();
                @if waiting > 0 {
                    span class="state chip" data-state="waiting" {
                        (icon("i", "wait"))
                        (waiting) @if waiting == 1 { " waits" } @else { " wait" } " for a person"
                    }
                }
                @if let Some(agent) = &session.agent {
                    span.agent data-agent=(agent_family(&agent.decode())) {
                        (line(agent.decode()))
                        @if let Some(version) = &session.version { " " (line(version.decode())) }
                    }
                }
                @if let Some(model) = &session.model {
                    span {
                        (line(model.decode()))
                        @if let Some(effort) = &session.reasoning_effort { ", " (line(effort.decode())) }
                    }
                }
                @if let Some(cwd) = &session.cwd {
                    span { (icon("i", "folder")) (line(cwd.decode())) }
                }
                @if let Some(branch) = &session.branch {
                    span { (icon("i", "branch")) (line(branch.decode())) }
                }
                @if let Some(authority) = &session.authority {
                    (allowed(authority, clock))
                }
                @if let Some(begun) = facts.begun.and_then(|at| clock.stamped(at, DATED)) {
                    span { (icon("i", "clock")) (begun) }
                }
                @if let Some(id) = &session.session_id { span.id { (line(id.as_str())) } }
            }
            dl.figures { (figures(facts, totals, running)) }
        }
    }
}

/// What the agent may do without asking, with its own words and the time since when on hover.
fn allowed(authority: &Authority, clock: &Clock) -> Markup {
    let words = authority.words();
    let since = authority.since.and_then(|at| clock.format(at, DATED));
    let since = since.map(|since| format!("{words}, since {since}"));
    let allowed = authority.allowed.map(Allowed::as_str);
    html! {
        span data-allowed=[allowed] title=(line(since.as_deref().unwrap_or(&words))) {
            (icon("i", "key")) "allowed: " (line(allowed.unwrap_or(&words)))
        }
    }
}

fn outcome(session: &Session) -> Markup {
    let Some(outcome) = session.outcome.filter(|outcome| *outcome != Outcome::Success) else {
        return html! {};
    };
    let words = outcome.as_str().replace('_', " ");
    let reason = session.outcome_reason.as_ref().map(Text::decode);
    let reason = reason.filter(|reason| *reason != outcome.as_str());
    html! {
        span class="state chip" data-state="failed" {
            (icon("i", if outcome == Outcome::Cancelled { "deny" } else { "fail" }))
            (words)
            @if let Some(reason) = reason { ": " (line(reason)) }
        }
    }
}

fn figures(facts: &Facts, totals: Option<&Totals>, running: usize) -> Markup {
    let usage = facts.summary.usage.unwrap_or_default();
    let warnings: u64 = facts.summary.warnings.values().sum();
    let turns = facts.turns.len();
    let cost = totals.map_or_else(|| facts.used.cost(facts.is_cost_stated), Totals::cost);
    let (input, output) = totals.map_or((usage.input_tokens, usage.output_tokens), |totals| {
        (totals.input_tokens, totals.output_tokens)
    });
    let (calls, bad) = totals.map_or((facts.calls, facts.bad), |it| (it.calls, it.failures));
    let agents = totals.filter(|totals| totals.agents > 0);
    html! {
        @if let Some(cost) = cost {
            (figure("Cost", &cost, &html! { @if cost.starts_with('≈') { "estimated" } }))
        }
        @if let Some(input) = input {
            (figure("Input", &human::count(input), &html! {
                @match agents {
                    Some(totals) => { "with " (human::number_of(totals.agents, "agent")) },
                    None => (cached(&usage)),
                }
            }))
        }
        @if let Some(output) = output {
            (figure("Output", &human::count(output), &html! {
                @if let Some(reasoning) = usage.reasoning_tokens.filter(|n| *n > 0 && totals.is_none()) {
                    (human::count(reasoning)) " reasoning"
                }
            }))
        }
        @if let Some((used, window)) = facts.context {
            (figure("Context", &format!("{} %", u128::from(used) * 100 / u128::from(window.max(1))), &html! {
                (human::count(used)) " of " (human::count(window))
            }))
        }
        (figure("Calls", &human::grouped(calls), &html! {
            @if bad > 0 { span.bad { (human::grouped(bad)) " failed" } } @else { "none failed" }
            @if running > 0 { ", " (human::grouped(running as u64)) " running" }
        }))
        @if warnings > 0 {
            (figure("Warnings", &human::grouped(warnings), &html! {
                (facts.summary.warnings.keys().map(|kind| kind.as_str().replace('_', " "))
                    .take(2).collect::<Vec<_>>().join(", "))
                @if facts.summary.warnings.len() > 2 { ", ..." }
            }))
        }
        @let (active, all) = human::active(facts.active(), facts.duration());
        (figure(if all.is_some() { "Active" } else { "Duration" }, active.as_deref().unwrap_or("–"), &html! {
            @if let Some(all) = all { "of " (all) ", " }
            (human::number_of(facts.entries, "entry")) ", " (human::number_of(turns, "turn"))
        }))
    }
}

fn figure(name: &str, value: &str, note: &Markup) -> Markup {
    html! { div { dt { (name) } dd { (value) } dd { (note) } } }
}

/// The percentage of the input that was read from a cache.
fn cached(usage: &TokenUsage) -> Markup {
    let (Some(input @ 1..), Some(read @ 1..)) = (usage.input_tokens, usage.cache_read_tokens)
    else {
        return html! {};
    };
    // An invalid log may exceed the range of 64 bits.
    let percent = u128::from(read) * 100 / u128::from(input);
    html! { (percent.min(100)) " % from cache" }
}
