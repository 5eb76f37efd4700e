//! The page of all that a session changed: its files, each with its changes in order.

use foldline_render::{html::changed_file, human};
use maud::{Markup, PreEscaped, html};

use super::frame::{brand, help, help_button, line, page};
use crate::verbs::diff::Section;

/// The number of characters of a title.
const MOST_TITLE: usize = 100;

/// The page of the changes of a session with this title, in its folder.
pub(in crate::serve) fn changes(
    title: &str,
    path: &str,
    folder: Option<&str>,
    sections: &[Section],
) -> String {
    let title = &*human::beginning(title, MOST_TITLE);
    let sum = |of: fn(&Section) -> usize| sections.iter().map(of).sum();
    let body = html! {
        header.top {
            (brand())
            nav.crumbs aria-label="Breadcrumb" {
                ol {
                    li { a href="/" { "Sessions" } }
                    li { a href=(path) { "Session" } }
                    li aria-current="page" { "Changes" }
                }
            }
            (help_button())
        }
        main.page.changes {
            h1 dir="auto" { (line(title)) }
            @if sections.is_empty() {
                section.empty { h2 { "No changes" } p { "No call that succeeded changed a file." } }
            } @else {
                p {
                    (human::number_of(sections.len(), "file")) " "
                    (counts(sum(|section| section.added), sum(|section| section.removed)))
                }
                ol.files { @for section in sections { li {
                    a href={ "#" (section.path) } { bdi { (line(&section.path)) } } " "
                    (counts(section.added, section.removed))
                } } }
            }
            @for section in sections { (one(section, folder)) }
        }
        (help(&[(&["?"], "this help")], &html! {}))
    };
    page("changes", title, &body)
}

fn one(section: &Section, folder: Option<&str>) -> Markup {
    let whole = folder.map(|folder| format!("{}/{}", folder.trim_end_matches('/'), section.path));
    html! {
        section id=(section.path) {
            // A page may name the file by its whole path.
            @if let Some(whole) = whole { span id=(whole) {} }
            h2.file {
                bdi { (line(&section.path)) }
                @if let Some(old) = &section.old_path { span { "was " (line(old)) } }
                @if section.is_deleted { span { "deleted" } }
                (counts(section.added, section.removed))
            }
            (PreEscaped(changed_file(&section.path, section.body())))
        }
    }
}

fn counts(added: usize, removed: usize) -> Markup {
    html! {
        @if added > 0 { span.plus { "+" (human::grouped(added as u64)) } " " }
        @if removed > 0 { span.minus { "−" (human::grouped(removed as u64)) } }
    }
}
