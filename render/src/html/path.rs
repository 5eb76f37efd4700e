//! A path: if room is scarce, the folder is truncated and the name kept.

use maud::{Markup, html};

use super::text::line;

/// A path, or any text that a tool uses as one.
pub(super) fn path(path: &str) -> Markup {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some((folder, name)) if !name.is_empty() => html! {
            span.dir { (line(folder)) "/" } span { (line(name)) }
        },
        _ => html! { span { (line(path)) } },
    }
}
