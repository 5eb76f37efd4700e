//! The page that explains an entry.

use foldline::emitters::terminal::neutralise;
use maud::{Markup, html};

use super::frame::{brand, page};
use crate::serve::explain::Cause;

/// What an entry was made from, step by step.
pub(in crate::serve) fn explain(session: i64, entry: usize, causes: &[Cause]) -> String {
    let link = format!("/sessions/{session}?at={entry}#e{entry}");
    let body = html! {
        header.top {
            (brand())
            nav.crumbs aria-label="Breadcrumb" {
                ol {
                    li { a href="/" { "Sessions" } }
                    li { a href=(link) { "Session " (session) } }
                    li aria-current="page" { "Entry " (entry) }
                }
            }
        }
        main.page {
            header.about {
                h1 { "Entry " (entry) }
                p { "The lines of the log that it was made from, the events that they became, and the patches that \
                     those caused." }
            }
            @if causes.is_empty() { p { "Nothing in the log makes this entry." } }
            @for cause in causes { (steps(cause)) }
        }
    };
    page("explain", &format!("Entry {entry}"), &body)
}

fn steps(cause: &Cause) -> Markup {
    let Cause { position, line, name, event, patch } = cause;
    html! {
        ol.steps {
            li { h3 { "Line " (position.line) small { "byte " (position.offset) } } pre { (neutralise(line)) } }
            li { h3 { "Event " (name) } pre { (neutralise(event)) } }
            @if let Some(patch) = patch { li { h3 { "Patch" } pre { (neutralise(patch)) } } }
        }
    }
}
