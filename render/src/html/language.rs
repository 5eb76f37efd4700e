//! The language of code, by which the script of the page colours it.

/// The language of a file, by which its lines are coloured: the ending of its name, or a name without one.
pub(super) fn of_path(path: &str) -> Option<String> {
    let name = path.rsplit(['/', '\\']).next()?;
    named(name.rsplit('.').next()?)
}

/// The language of code that is named, as in a fence of Markdown.
pub(super) fn named(name: &str) -> Option<String> {
    let is_name =
        (1..=12).contains(&name.len()) && name.bytes().all(|it| it.is_ascii_alphanumeric());
    is_name.then(|| name.to_ascii_lowercase())
}
