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
    /// The same, but it takes a third of the table if less important columns can be omitted for it, since it says what
    /// the row is about.
    Subject,
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
/// The width of a table in shares, of which a subject takes one.
const SHARES: usize = 3;
/// The same of a name.
const WORTH_LATE: usize = 20;
/// The same of the end of a path.
const WORTH_START: usize = 10;

/// What a column is omitted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// More of a subject.
    Subject,
    /// The table is too wide.
    Room,
}

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
    /// Writes the table, with bold headings if it is coloured, after hiding columns until it fits. `next` removes a column
    /// and returns its position; if the table would fit with less of its subjects, it may keep all.
    pub(super) fn write(
        mut self,
        out: &mut dyn Write,
        (width, is_coloured): (usize, bool),
        mut next: impl FnMut(Need) -> Option<usize>,
    ) -> io::Result<Option<Hidden>> {
        let mut widths = self.widths();
        let mut all = self.least_width(&widths, 0);
        while self.least_width(&widths, all) > all {
            all += 1;
        }
        let mut hidden = Hidden { headings: Vec::new(), width: all };
        while self.headings.len() > 1 && self.least_width(&widths, width) > width {
            let fits = self.least_width(&widths, 0) <= width;
            let Some(at) = next(if fits { Need::Subject } else { Need::Room }) else { break };
            hidden.headings.insert(0, self.headings.remove(at));
            self.layouts.remove(at);
            widths.remove(at);
            self.rows.iter_mut().for_each(|row| drop(row.remove(at)));
        }
        let mut text = Vec::new();
        write_table(&mut text, &self.headings, &self.layouts, &self.rows, width)?;
        let end = text.iter().position(|byte| *byte == b'\n').filter(|_| is_coloured).unwrap_or(0);
        let (headings, rows) = text.split_at(end);
        let (bold, plain) = if end > 0 { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
        let parts = [bold.as_bytes(), headings, plain.as_bytes(), rows];
        parts.iter().try_for_each(|part| out.write_all(part))?;
        Ok(Some(hidden).filter(|hidden| !hidden.headings.is_empty()))
    }

    /// The widths of the columns with whole cells.
    fn widths(&self) -> Vec<usize> {
        let widest = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| neutralise_line(cell).width()).max().unwrap_or(0)
        };
        let columns = self.headings.iter().enumerate();
        columns.map(|(column, heading)| widest(column).max(heading.width())).collect()
    }

    /// The width that the table needs to be readable, of this available one. Numbers and times are never clipped.
    fn least_width(&self, widths: &[usize], available: usize) -> usize {
        let columns = self.headings.iter().zip(&self.layouts).zip(widths);
        let columns = columns.map(|((heading, layout), &width)| match layout.clip {
            Clip::Subject => width.min(WORTH.max(available / SHARES)),
            Clip::Early => width.min(WORTH),
            Clip::Start => width.min(WORTH_START),
            Clip::Late => width.min(WORTH_LATE),
            Clip::Prefix => width.min(LEAST.max(heading.width())),
            Clip::Never => width,
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
    // First to a readable width, and a subject to its share, then to a width that still distinguishes values.
    let rounds: [(&[Clip], usize); 7] = [
        (&[Clip::Subject], WORTH.max(width / SHARES)),
        (&[Clip::Early, Clip::Start], WORTH),
        (&[Clip::Prefix], LEAST),
        (&[Clip::Start], WORTH_START),
        (&[Clip::Subject], WORTH),
        (&[Clip::Late], LEAST),
        (&[Clip::Subject, Clip::Early, Clip::Start], LEAST),
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
    const SUBJECT: Layout = Layout { right: false, clip: Clip::Subject };
    const NUMBER: Layout = Layout { right: true, clip: Clip::Never };

    #[test]
    fn a_subject_takes_a_third_of_the_width_rather_than_a_less_important_column() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let written = |width, is_dispensable: bool| {
            let table = Table {
                headings: row(["id", "title", "of"]),
                layouts: vec![ID, SUBJECT, ID],
                rows: vec![row([&"1".repeat(20), &"word ".repeat(9), &"2".repeat(20)])],
            };
            let mut out = Vec::new();
            let next = |need| (is_dispensable || need == Need::Room).then_some(2);
            let hidden = table.write(&mut out, (width, false), next).unwrap();
            (String::from_utf8(out).unwrap(), hidden.map(|hidden| hidden.headings))
        };
        assert_eq!(written(66, true).1, None);
        let (text, hidden) = written(64, true);
        assert_eq!(hidden.unwrap(), ["of"], "{text}");
        let (text, hidden) = written(64, false);
        assert!(hidden.is_none() && text.contains("2222"), "{text}");
        assert_eq!(written(60, false).1.unwrap(), ["of"]);
    }

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
