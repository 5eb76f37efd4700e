//! SQL functions of texts. Those of SQLite (`LIKE`, `lower`, `substr`, `snippet`) end at the first NUL of a text.

use foldline_domain::title;
use rusqlite::{Connection, functions::FunctionFlags, types::ValueRef};

use crate::arguments::arguments;

/// Adds the functions to a connection:
///
/// - `title_line(text, is_any)`: the line that names a session; see [`title`](foldline_domain::title).
/// - `has_text(text, part)`: whether a text contains another. The case of the letters `a` to `z` is ignored.
/// - `text_start(text, count)`: the first characters of a text.
/// - `call_arguments(action, title, metadata)`: what a call was made with, as text, of an action and metadata in JSON. The
///   schema uses it.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("title_line", 2, flags, |row| {
        let text = row.get_raw(0).as_str_or_null()?;
        Ok(text.and_then(|text| title::line(text, row.get(1).unwrap_or(false))))
    })?;
    connection.create_scalar_function("has_text", 2, flags, |row| {
        let (ValueRef::Text(text), ValueRef::Text(part)) = (row.get_raw(0), row.get_raw(1)) else {
            return Ok(false);
        };
        Ok(has(text, part))
    })?;
    connection.create_scalar_function("text_start", 2, flags, |row| {
        let count = row.get::<u32>(1)? as usize;
        let text = row.get_raw(0).as_str_or_null()?;
        let end = |text: &str| text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
        Ok(text.and_then(|text| text.get(..end(text)).map(str::to_owned)))
    })?;
    let flags = flags | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("call_arguments", 3, flags, |row| {
        let text = |column| row.get_raw(column).as_str_or_null();
        let title = text(1)?.unwrap_or_default();
        Ok(text(0)?.and_then(|action| arguments(action, title, text(2).ok()?)))
    })
}

fn has(text: &[u8], part: &[u8]) -> bool {
    let Some(first) = part.first() else { return true };
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    memchr::memchr2_iter(lower, upper, text).any(|at| {
        text.get(at..at + part.len()).is_some_and(|found| found.eq_ignore_ascii_case(part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_found_wherever_it_is() {
        for (text, part, is_in) in [
            ("one\0Two", "two", true),
            ("one\0Two", "E\0t", true),
            ("one", "one", true),
            ("on", "one", false),
            ("", "", true),
            ("one", "x", false),
            ("ÄRGER", "rg", true),
        ] {
            assert_eq!(has(text.as_bytes(), part.as_bytes()), is_in, "{text:?} {part:?}");
        }
    }
}
