//! The page of a session.

use foldline_render::html::VIEWS;
use maud::{Markup, PreEscaped, html};

use super::{
    dock::{dock, end},
    frame::{brand, help, help_button, icon, line, page_in_time},
    window::Window,
};
use crate::serve::{live::Shown, status::Status};

const KEYS: [(&[&str], &str); 12] = [
    (&["j", "k"], "next, previous entry"),
    (&["n", "p"], "next, previous failure"),
    (&["]", "["], "next, previous turn"),
    (&["/"], "find"),
    (&["l"], "go to the present and follow"),
    (&[",", "."], "previous, next change"),
    (&["s"], "play, pause"),
    (&["o"], "open or close the entry"),
    (&["u"], "go to the parent call"),
    (&["y"], "copy the entry’s link"),
    (&["c"], "copy the command, prompt or text"),
    (&["e"], "explain the entry"),
];

const LEGEND: [(&str, &str); 5] = [
    ("says", "your messages"),
    ("bars", "entries, by time"),
    ("bads", "failures among them"),
    ("subs", "sub-agents"),
    ("dividers", "compaction"),
];

/// The page of a session.
pub(in crate::serve) struct SessionPage<'d> {
    /// The path of the page.
    pub(in crate::serve) path: &'d str,
    pub(in crate::serve) shown: &'d Shown,
    pub(in crate::serve) status: Status,
    /// The requested entry.
    pub(in crate::serve) around: Option<usize>,
    /// The chosen view.
    pub(in crate::serve) show: Option<&'d str>,
}

impl SessionPage<'_> {
    /// The page as HTML.
    pub(in crate::serve) fn render(&self) -> String {
        let Self { path, shown, status, around, show } = *self;
        let show = VIEWS
            .into_iter()
            .map(|(view, _)| view)
            .find(|view| Some(*view) == show)
            .unwrap_or(VIEWS[0].0);
        let Shown { snapshot, timeline, moment, place, failure, resume, tree, other_parts, .. } =
            shown;
        let (title, moment) = (snapshot.title(), *moment);
        let entries = Window::at(snapshot, moment).feed(around).concat();
        let body = html! {
            a class="skip vh" href="#feed" { "Skip to the conversation" }
            (top(&title, show))
            main class="page session" {
                p.whole #whole { @if let Some(whole) = &tree.whole { (PreEscaped(whole)) } }
                (PreEscaped(snapshot.about()))
                div.feed #feed role="feed" aria-label="Conversation" aria-busy="false"
                    data-session=(path) data-at=(place) data-moment=[moment]
                {
                    @if entries.is_empty() {
                        section.empty {
                            (icon("i", "fold"))
                            h2 { "Nothing yet" }
                            p { "What is said and done appears here as soon as the agent writes it to its log." }
                        }
                    }
                    (PreEscaped(entries))
                    @if let Some(moment) = moment { (end(path, timeline, moment)) }
                }
                (PreEscaped(snapshot.side()))
                section.agents #agents aria-label="Agents" hidden[other_parts.is_empty()] {
                    h2 { "Agents" }
                    (PreEscaped(other_parts))
                }
                @if let Some(failure) = failure {
                    footer.colophon { p role="alert" { "Reading of the log stopped: " (line(failure)) } }
                }
            }
            (dock(timeline, moment, status))
            p.vh role="status" #news {}
            div.help.beside #others popover role="dialog" aria-label="Other sessions" data-from="/others" {}
            (actions(path, resume.as_deref()))
            (help(&KEYS, &legend()))
        };
        page_in_time("session", show, if moment.is_some() { "past" } else { "live" }, &title, &body)
    }
}

/// What can be done with the session.
fn actions(path: &str, resume: Option<&str>) -> Markup {
    html! {
        div.help #actions popover role="dialog" aria-label="This session" {
            h2 { "This session" }
            ul.actions {
                li {
                    form.export method="get" action={ (path) "/export" } {
                        select.field name="format" aria-label="Format" {
                            @for (format, words) in [("html", "Page"), ("md", "Markdown"), ("json", "JSON")] {
                                option value=(format) { (words) }
                            }
                        }
                        label title="Secrets, home directories and e-mail addresses where they are recognised" {
                            input type="checkbox" name="redact" value="true" checked;
                            " Redacted"
                        }
                        button.btn { "Export" }
                    }
                }
                li { button.btn type="button" data-copy="" { span { "Copy the link to this moment" } } }
                @if let Some(resume) = resume {
                    li {
                        button.btn type="button" data-copy=(line(resume)) { span { "Copy the command to resume it" } }
                        code { (line(resume)) }
                    }
                }
            }
        }
    }
}

/// The legend of the map.
fn legend() -> Markup {
    html! {
        h2 { "Timeline" }
        ul.legend {
            @for (class, what) in LEGEND { li { i class=(class) {} (what) } }
        }
        p.legend { "Pauses count as at most 20 s, on the map and during playback." }
    }
}

fn top(title: &str, show: &str) -> Markup {
    html! {
        header.top data-two {
            (brand())
            nav.crumbs aria-label="Breadcrumb" {
                ol { li { a href="/" { "Sessions" } } li #crumb aria-current="page" { (line(title)) } }
            }
            fieldset.seg {
                legend.vh { "Show" }
                @for (value, word) in VIEWS {
                    label {
                        input type="radio" name="show" value=(value) checked[value == show];
                        span { (word) }
                    }
                }
            }
            form.find #find role="search" {
                (icon("i", "search"))
                input.field type="search" name="q" placeholder="Find in session"
                    aria-label="Find in session" autocomplete="off";
                kbd { "/" }
                span.hits {}
            }
            button class="btn bare icon" type="button" popovertarget="others" title="Other sessions" {
                (icon("i", "todo"))
                span.vh { "Other sessions" }
            }
            button class="btn bare icon to-side" type="button" popovertarget="side" title="Turns and usage" {
                (icon("i", "side"))
                span.vh { "Turns and usage" }
            }
            button class="btn bare icon" type="button" popovertarget="actions" title="Export, link, resume" {
                (icon("i", "move"))
                span.vh { "Export, link, resume" }
            }
            (help_button())
        }
    }
}
