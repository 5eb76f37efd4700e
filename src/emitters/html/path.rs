//! A path: the folder gives way where room is scarce, the name stays.

use maud::{Markup, html};

use super::text::line;

/// A path, or whatever a tool takes for one.
pub(super) fn path(path: &str) -> Markup {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some((folder, name)) if !name.is_empty() => html! {
            span.dir { (line(folder)) "/" } span { (line(name)) }
        },
        _ => html! { span { (line(path)) } },
    }
}
