//! Tables for the terminal: fitted to its width, with control characters neutralised.

use std::{
    borrow::Cow,
    fmt,
    io::{self, Write},
};

use foldline_render::terminal::neutralise_line;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::wrap::JOINT;

/// The layout of a column.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Whether the column is right-aligned, as numbers are.
    pub right: bool,
    /// Whether the column may be clipped.
    pub clip: Clip,
}

/// Whether a column may be clipped if there is not enough space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clip {
    /// Down to a few characters.
    Early,
    /// The same, at the beginning, since the end of a path is more informative.
    Start,
    /// Last, if clipping the others is not enough.
    Late,
    /// The same, without an ellipsis: a prefix still identifies an id.
    Prefix,
    /// Never.
    Never,
}

/// The distance between columns.
const GAP: usize = 2;

/// The smallest width of a clipped column.
const LEAST: usize = 8;

/// The smallest width of a text, if other columns can be omitted for it.
const WORTH: usize = 18;
/// The same of a name.
const WORTH_LATE: usize = 20;
/// The same of the end of a path.
const WORTH_START: usize = 10;

/// The cells of a table.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) headings: Vec<String>,
    pub(super) layouts: Vec<Layout>,
    pub(super) rows: Vec<Vec<String>>,
}

/// Columns that a narrow table hides.
#[derive(Debug)]
pub(super) struct Hidden {
    /// Their headings, the most important first.
    headings: Vec<String>,
    /// The width of a table with all columns.
    pub(super) width: usize,
}

impl Hidden {
    /// A note about an answer whose width is an option.
    pub(super) fn note(&self) -> String {
        let (width, them) = (self.width, if self.headings.len() == 1 { "it" } else { "them" });
        format!("{self} (--width{JOINT}{width}{JOINT}shows{JOINT}{them})")
    }
}

impl fmt::Display for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = if self.headings.len() == 1 { "column" } else { "columns" };
        write!(f, "hidden {columns}: {}", self.headings.join(", "))
    }
}

impl Table {
    /// Writes the table, after hiding columns until it fits; `next` removes a column and returns its position.
    pub(super) fn write(
        mut self,
        out: &mut dyn Write,
        width: usize,
        mut next: impl FnMut() -> usize,
    ) -> io::Result<Option<Hidden>> {
        let mut hidden = Hidden { headings: Vec::new(), width: self.least_width() };
        while self.headings.len() > 1 && self.least_width() > width {
            let at = next();
            hidden.headings.insert(0, self.headings.remove(at));
            self.layouts.remove(at);
            self.rows.iter_mut().for_each(|row| drop(row.remove(at)));
        }
        write_table(out, &self.headings, &self.layouts, &self.rows, width)?;
        Ok(Some(hidden).filter(|hidden| !hidden.headings.is_empty()))
    }

    /// The width that the table needs to be readable. Numbers and times are never clipped.
    fn least_width(&self) -> usize {
        let widest = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| neutralise_line(cell).width()).max().unwrap_or(0)
        };
        let columns = self.headings.iter().zip(&self.layouts).enumerate();
        let columns = columns.map(|(column, (heading, layout))| {
            let width = widest(column).max(heading.width());
            match layout.clip {
                Clip::Early => width.min(WORTH),
                Clip::Start => width.min(WORTH_START),
                Clip::Late => width.min(WORTH_LATE),
                Clip::Prefix => width.min(LEAST.max(heading.width())),
                Clip::Never => width,
            }
        });
        columns.sum::<usize>() + GAP * self.headings.len().saturating_sub(1)
    }
}

/// Writes a table with a line of headings, no line wider than `width` columns.
///
/// # Errors
/// It cannot be written.
pub fn write_table(
    out: &mut dyn Write,
    headings: &[String],
    layouts: &[Layout],
    rows: &[Vec<String>],
    width: usize,
) -> io::Result<()> {
    let rows: Vec<Vec<Cow<'_, str>>> =
        rows.iter().map(|row| row.iter().map(|cell| neutralise_line(cell)).collect()).collect();
    let headings: Vec<_> = headings.iter().map(|heading| neutralise_line(heading)).collect();
    let mut widths: Vec<usize> = headings.iter().map(|heading| heading.width()).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    fit(&mut widths, layouts, width);
    for row in std::iter::once(&headings).chain(&rows) {
        let mut line = String::new();
        for ((cell, layout), width) in row.iter().zip(layouts).zip(&widths) {
            let cell = match layout.clip {
                Clip::Start => clip_start(cell, *width),
                Clip::Prefix => prefix(cell, *width),
                _ => clip(cell, *width),
            };
            let space = " ".repeat(width.saturating_sub(cell.width()));
            let gap = " ".repeat(if line.is_empty() { 0 } else { GAP });
            let (before, after) = if layout.right { (&*space, "") } else { ("", &*space) };
            line.extend([gap.as_str(), before, &cell, after]);
        }
        writeln!(out, "{}", clip(line.trim_end(), width))?;
    }
    Ok(())
}

/// Narrows the widest of the columns that may be clipped until the table fits, or no column can be
/// narrowed.
fn fit(widths: &mut [usize], layouts: &[Layout], width: usize) {
    let gaps = GAP * widths.len().saturating_sub(1);
    // First to a readable width, then to a width that still distinguishes values.
    let rounds: [(&[Clip], usize); 5] = [
        (&[Clip::Early, Clip::Start], WORTH),
        (&[Clip::Prefix], LEAST),
        (&[Clip::Start], WORTH_START),
        (&[Clip::Late], LEAST),
        (&[Clip::Early, Clip::Start], LEAST),
    ];
    for (clips, least) in rounds {
        while widths.iter().sum::<usize>() + gaps > width {
            let is_clipped = |layout: &Layout| clips.contains(&layout.clip);
            let columns = widths.iter_mut().zip(layouts).filter(|(_, layout)| is_clipped(layout));
            let Some((widest, _)) = columns.max_by_key(|(width, _)| **width) else { break };
            if *widest <= least {
                break;
            }
            *widest -= 1;
        }
    }
}

/// The text in at most `width` columns of a terminal; with an ellipsis if it is clipped.
pub(super) fn clip(text: &str, width: usize) -> Cow<'_, str> {
    if text.width() <= width {
        return Cow::Borrowed(text);
    }
    let mut clipped = String::new();
    let mut room = width.saturating_sub(1);
    for c in text.chars() {
        let needs = c.width().unwrap_or(0);
        if needs > room {
            break;
        }
        room -= needs;
        clipped.push(c);
    }
    if width > 0 {
        clipped.push('…');
    }
    Cow::Owned(clipped)
}

/// A text in at most `width` columns, with the first match in the middle, which begins with `begin`.
pub(super) fn clip_around(text: &str, begin: char, width: usize) -> Cow<'_, str> {
    let Some(at) = text.find(begin).filter(|_| text.width() > width) else {
        return clip(text, width);
    };
    let (before, rest) = text.split_at(at);
    // Not more than needed if the rest is short.
    let room = (width / 2).max(width.saturating_sub(rest.width()));
    let before = clip_start(before, room);
    let rest = clip(rest, width.saturating_sub(before.width()));
    Cow::Owned(format!("{before}{rest}"))
}

/// The beginning of an id in at most `width` columns.
fn prefix(id: &str, width: usize) -> Cow<'_, str> {
    let end = id.char_indices().nth(width).map_or(id.len(), |(at, _)| at);
    let begin = id.get(..end).unwrap_or(id);
    Cow::Borrowed(if end < id.len() { begin.trim_end_matches('-') } else { begin })
}

/// The end of a text in at most `width` columns; with an ellipsis if it is clipped.
fn clip_start(text: &str, width: usize) -> Cow<'_, str> {
    if text.width() <= width {
        return Cow::Borrowed(text);
    }
    let mut room = width.saturating_sub(1);
    let kept = text.char_indices().rev().take_while(|(_, c)| {
        let needs = c.width().unwrap_or(0);
        let fits = needs <= room;
        room = room.saturating_sub(needs);
        fits
    });
    let start = kept.last().map_or(text.len(), |(at, _)| at);
    Cow::Owned(format!("…{}", text.get(start..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: Layout = Layout { right: false, clip: Clip::Early };
    const ID: Layout = Layout { right: false, clip: Clip::Late };
    const NUMBER: Layout = Layout { right: true, clip: Clip::Never };

    fn table(layouts: &[Layout], rows: &[&[&str]], width: usize) -> Vec<String> {
        let mut rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect();
        let headings = rows.remove(0);
        let mut out = Vec::new();
        write_table(&mut out, &headings, layouts, &rows, width).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn columns_are_clipped_where_they_may_be() {
        let rows: &[&[&str]] = &[&["id", "n", "text"], &["abcdefghij", "12", "中文字中文字中文字"]];
        assert_eq!(
            table(&[ID, NUMBER, TEXT], rows, 26),
            ["id         n  text", "abcdefg…  12  中文字中文…"]
        );
        for line in table(&[ID, NUMBER, TEXT], rows, 12) {
            assert!(line.width() <= 12, "{line}");
        }
    }

    #[test]
    fn of_a_path_the_end_is_kept() {
        assert_eq!(clip_start("/a/long/path.rs", 9), "…/path.rs");
        assert_eq!(clip_start("/a/中文字.rs", 8), "…文字.rs");
        assert_eq!(clip_start("short", 9), "short");
    }

    #[test]
    fn a_match_is_in_the_middle() {
        let text = format!("{}«hit»{}", "a".repeat(50), "b".repeat(50));
        assert_eq!(clip_around(&text, '«', 20), "…aaaaaaaaa«hit»bbbb…");
        assert_eq!(clip_around("short «hit»", '«', 20), "short «hit»");
        assert_eq!(clip_around(&"a".repeat(30), '«', 20).width(), 20);
        let late = format!("{}«hit»", "a".repeat(50));
        assert_eq!(clip_around(&late, '«', 20), "…aaaaaaaaaaaaaa«hit»");
    }

    #[test]
    fn nothing_acts_on_the_terminal() {
        let rows: &[&[&str]] = &[&["text"], &["a\x1b[2J\r\n\u{202e}b\u{7f}\u{9b}"]];
        assert_eq!(table(&[TEXT], rows, 80)[1], r"a␛[2J␍⏎\u{202e}b␡\u{9b}");
    }
}
