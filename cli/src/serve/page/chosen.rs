//! What else sessions are restricted to, besides the controls of a page: each can be taken away.

use maud::{Markup, html};

use super::frame::line;
use crate::serve::filter::Filter;

/// Links to the same page without each restriction, and fields that keep it in the address.
///
/// `days` says whether no control shows the days.
pub(super) fn chosen(filter: &Filter, days: bool, address: &dyn Fn(&Filter) -> String) -> Markup {
    let (since, until) = (filter.since.as_str(), filter.until.as_str());
    let words = match (since, until) {
        _ if !days => String::new(),
        (since, until) if since == until => since.to_owned(),
        (since, "") => format!("since {since}"),
        ("", until) => format!("until {until}"),
        (since, until) => format!("{since} to {until}"),
    };
    let without = Filter { offset: 0, ..filter.clone() };
    let chips = [
        ("model", &filter.model, Filter { model: String::new(), ..without.clone() }),
        ("branch", &filter.branch, Filter { branch: String::new(), ..without.clone() }),
        ("host", &filter.host, Filter { host: String::new(), ..without.clone() }),
        ("user", &filter.user, Filter { user: String::new(), ..without.clone() }),
        ("days", &words, Filter { since: String::new(), until: String::new(), ..without }),
    ];
    let fields = [
        ("model", &*filter.model),
        ("branch", &filter.branch),
        ("host", &filter.host),
        ("user", &filter.user),
        ("since", since),
        ("until", until),
    ];
    html! {
        @for (name, value) in fields.into_iter().filter(|(name, value)| {
            !value.is_empty() && (days || !matches!(*name, "since" | "until"))
        }) {
            input type="hidden" name=(name) value=(value);
        }
        @for (name, value, without) in chips.into_iter().filter(|(_, value, _)| !value.is_empty()) {
            a.chosen href=(address(&without)) {
                small { (name) } " " (line(value)) span aria-hidden="true" { "×" }
                span.vh { ", remove" }
            }
        }
    }
}
