//! The origin of an entry, at its end.

use foldline_render::terminal::neutralise;
use maud::{Markup, html};

use crate::serve::explain::{Cause, MOST_CAUSES};

/// The lines of the log, their events, and the resulting patches.
pub(in crate::serve) fn explanation(entry: usize, causes: &[Cause]) -> Markup {
    html! {
        section.explain aria-label={ "What entry " (entry) " was made from" } {
            @if causes.is_empty() { p { "Nothing in the log makes this entry." } }
            @for cause in causes { (steps(cause)) }
            @if causes.len() >= MOST_CAUSES { p { "These are the first " (MOST_CAUSES) " events." } }
        }
    }
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
