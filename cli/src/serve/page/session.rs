//! The page of a session.

use foldline::emitters::html::Page;
use maud::{Markup, PreEscaped, html};

use super::{
    frame::{brand, help, help_button, icon, line, page as frame},
    window::feed,
};
use crate::serve::status::Status;

const KEYS: [(&[&str], &str); 9] = [
    (&["j", "k"], "next, previous entry"),
    (&["n", "p"], "next, previous failure"),
    (&["]", "["], "next, previous turn"),
    (&["/"], "find"),
    (&["l"], "to the end, and follow"),
    (&["o"], "open or fold the entry"),
    (&["u"], "to the call that it is within"),
    (&["y"], "copy the entry’s link"),
    (&["e"], "explain the entry"),
];

/// The page of a session as it stands: `place` is the number of the last change that is in it.
pub(in crate::serve) fn session(
    number: i64,
    page: &Page,
    status: Status,
    place: &str,
    around: Option<usize>,
    failure: Option<&str>,
) -> String {
    let title = page.title();
    let body = html! {
        a class="skip vh" href="#feed" { "Skip to the conversation" }
        (top(&title))
        main class="page session" {
            (PreEscaped(page.about()))
            div.feed #feed role="feed" aria-label="Conversation" aria-busy="false"
                data-events={ "/sessions/" (number) "/fragments" } data-at=(place)
                data-entries={ "/sessions/" (number) "/entries" } data-find={ "/sessions/" (number) "/find" }
                data-explain={ "/sessions/" (number) "/explain" }
            {
                (PreEscaped(feed(page, around)))
            }
            (PreEscaped(page.side()))
            @if let Some(failure) = failure {
                footer.colophon { p role="alert" { "The log is not read any further: " (line(failure)) } }
            }
        }
        (dock(status))
        p.vh role="status" #news {}
        (help(&KEYS))
    };
    frame("session", &title, &body)
}

fn top(title: &str) -> Markup {
    let shown = [("all", "All"), ("talk", "Talk"), ("calls", "Calls"), ("bad", "Failures")];
    html! {
        header.top data-two {
            (brand())
            nav.crumbs aria-label="Breadcrumb" {
                ol { li { a href="/" { "Sessions" } } li #crumb aria-current="page" { (line(title)) } }
            }
            fieldset.seg {
                legend.vh { "Show" }
                @for (value, word) in shown {
                    label {
                        input type="radio" name="show" value=(value) checked[value == "all"];
                        span { (word) }
                    }
                }
            }
            form.find #find role="search" {
                (icon("i", "search"))
                input.field type="search" name="q" placeholder="Find in session"
                    aria-label="Find in session" autocomplete="off";
                kbd { "/" }
            }
            button class="btn bare icon to-side" type="button" popovertarget="side" title="Turns and usage" {
                (icon("i", "side"))
                span.vh { "Turns and usage" }
            }
            (help_button())
        }
    }
}

/// What follows the end of the session.
fn dock(status: Status) -> Markup {
    html! {
        section.dock aria-label="Live" {
            label.live { input type="checkbox" role="switch" #live checked; span { "Live" } }
            span.moment { span #state { (status.as_str()) } }
            span #behind {}
        }
    }
}
