//! A path: if room is scarce, the folder is truncated and the name kept. Its ending names the language of a file.

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

/// The language of a file, by which its lines are coloured: the ending of its name, or a name without one.
pub(super) fn language_of(path: &str) -> Option<String> {
    let name = path.rsplit(['/', '\\']).next()?;
    language(name.rsplit('.').next()?)
}

/// The language of code that is named, as in a fence of Markdown.
pub(super) fn language(name: &str) -> Option<String> {
    let is_name =
        (1..=12).contains(&name.len()) && name.bytes().all(|it| it.is_ascii_alphanumeric());
    is_name.then(|| name.to_ascii_lowercase())
}
