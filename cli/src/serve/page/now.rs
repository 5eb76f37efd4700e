//! What is going on, above the list: what waits, runs and failed, what today and this week cost, and the stated limits.

use foldline_domain::pricing::CostBasis;
use foldline_render::human;
use jiff::tz::TimeZone;
use maud::{Markup, html};

use super::frame::{icon, line, money};
use crate::{
    serve::{counts::Counts, sessions::Session, status::Status},
    verbs::today::{Activity, Today},
};

/// The sums, with the counts of the choices, which the script shows.
pub(in crate::serve) fn now(today: &Today, counts: Counts, now: i64, zone: &TimeZone) -> Markup {
    let waiting = today.running.iter().filter(|running| running.is_waiting()).count() as u64;
    let running = today.running.len() as u64;
    html! {
        div.now #now data-from="/now" data-asks=(waiting) data-all=(counts.all) data-running=(counts.running)
            data-waiting=(counts.waiting) data-failed=(counts.failed)
        {
            (sum("waiting", waiting, "waiting", "/?status=waiting"))
            (sum("running", running, "running", "/?status=running"))
            (sum("failed", today.today.failed, "failed today", "/?status=failed&time=today"))
            (activity(&today.today, "today"))
            (activity(&today.week, "this week"))
            @for (agent, limit) in &today.limits {
                div.limit {
                    (line(agent)) ", " (Today::limit(limit, now, zone))
                    meter min="0" max="100" high="90" optimum="0" value=(limit.used_percent.clamp(0.0, 100.0))
                        aria-hidden="true" {}
                }
            }
        }
    }
}

fn sum(state: &str, count: u64, words: &str, to: &str) -> Markup {
    html! {
        a href=(to) data-state=[(count > 0).then_some(state)] { b { (human::grouped(count)) } " " (words) }
    }
}

fn activity(activity: &Activity, words: &str) -> Markup {
    let cost = activity.cost.map(|cost| money(cost.usd, cost.basis != CostBasis::Logged));
    html! {
        a href="/usage" {
            b { (cost.unwrap_or_else(|| "–".to_owned())) } " " (words)
            @if activity.tokens > 0 { small { (human::count(activity.tokens)) " tokens" } }
        }
    }
}

/// Links to the latest sessions, for the page of one of them.
pub(in crate::serve) fn others(sessions: &[Session]) -> Markup {
    html! {
        ul.others {
            @for session in sessions {
                li {
                    span.state data-state=(session.status.as_str()) {
                        (icon(if session.status == Status::Running { "i spin" } else { "i" }, session.status.symbol().unwrap_or("ok")))
                        span.vh { (session.status.as_str()) }
                    }
                    a href=(session.path) { (line(session.name())) }
                    small { (line(super::list::agent_name(session.agent.as_deref().unwrap_or_default()))) }
                }
            }
        }
    }
}
