//! [`Page`]: the rows that one event adds to the transcript, and the one way for text to get there.

use std::{borrow::Cow, fmt::Write, iter};

use super::{
    human,
    style::{Ink, TranscriptStyle},
    wrap::{beginning, clean, clip, hard_wrap, width},
};
use crate::{conversation::Lines, emitters::terminal::neutralise_line, transduce::Batch};

/// One row, made of pieces. Whatever is put into it is neutralised, so that nothing reaches the
/// terminal otherwise.
#[derive(Clone, Debug, Default)]
pub(super) struct Row(Vec<(Ink, String)>);

impl Row {
    pub(super) fn new(ink: Ink, text: impl AsRef<str>) -> Self {
        Self::default().then(ink, text)
    }

    pub(super) fn indent(columns: usize) -> Self {
        Self::new(Ink::Plain, " ".repeat(columns))
    }

    #[must_use]
    pub(super) fn then(mut self, ink: Ink, text: impl AsRef<str>) -> Self {
        self.0.push((ink, neutralise_line(text.as_ref()).into_owned()));
        self
    }

    /// The row with `text` after a dot, unless it is the row's beginning.
    #[must_use]
    pub(super) fn item(self, ink: Ink, text: impl AsRef<str>) -> Self {
        let row = if self.0.is_empty() { self } else { self.then(Ink::Quiet, " · ") };
        row.then(ink, text)
    }

    #[must_use]
    pub(super) fn join(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    pub(super) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| width(text)).sum()
    }

    fn trim_end(&mut self) {
        while let Some((_, text)) = self.0.last_mut() {
            text.truncate(text.trim_end().len());
            if !text.is_empty() {
                break;
            }
            self.0.pop();
        }
    }

    fn fit(&mut self, room: usize) {
        if self.width() <= room {
            return;
        }
        let mut left = room.saturating_sub(1);
        let mut kept = 0;
        for (_, text) in &mut self.0 {
            kept += 1;
            let columns = width(text);
            if columns > left {
                text.truncate(beginning(text, left).len());
                text.push('…');
                break;
            }
            left -= columns;
        }
        self.0.truncate(kept);
    }
}

/// The rows that one event adds, right of the bars that mark a sub-agent's work.
#[derive(Debug)]
pub(super) struct Page {
    style: TranscriptStyle,
    bars: usize,
    rows: usize,
    text: String,
}

/// How much of a long text is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) head: usize,
    pub(super) tail: usize,
}

impl Page {
    /// Bars beyond these would leave no room for text.
    const MAX_BARS: usize = 4;
    const MIN_TEXT: usize = 24;

    pub(super) fn new(style: TranscriptStyle) -> Self {
        Self { style, bars: 0, rows: 0, text: String::new() }
    }

    /// From here on, rows stand right of as many bars.
    pub(super) fn set_depth(&mut self, depth: usize) {
        let room = self.style.width.saturating_sub(Self::MIN_TEXT) / 2;
        self.bars = depth.min(Self::MAX_BARS).min(room);
    }

    /// The columns right of the bars.
    pub(super) fn width(&self) -> usize {
        self.style.width - 2 * self.bars
    }

    /// How many rows there are so far.
    pub(super) fn len(&self) -> usize {
        self.rows
    }

    /// A row, cut to the width, without white space at its end.
    pub(super) fn row(&mut self, row: Row) {
        let mut whole = Row::default();
        if self.bars > 0 {
            whole = whole.then(Ink::Quiet, self.bars());
        }
        whole = whole.join(row);
        whole.trim_end();
        whole.fit(self.style.width);
        self.begin_row();
        whole.0.iter().for_each(|(ink, text)| self.print(*ink, text));
    }

    /// A row of one text. Most rows are such, and fit: they are copied once.
    fn line(&mut self, indent: usize, ink: Ink, text: &str) {
        let text = neutralise_line(text);
        let text = text.trim_end();
        if text.is_empty() || indent + width(text) > self.width() {
            return self.row(Row::indent(indent).then(ink, text));
        }
        self.begin_row();
        if self.bars > 0 {
            self.print(Ink::Quiet, &self.bars());
        }
        self.text.extend(iter::repeat_n(' ', indent));
        self.print(ink, text);
    }

    fn begin_row(&mut self) {
        if self.rows > 0 {
            self.text.push('\n');
        }
        self.rows += 1;
    }

    /// Prints what was neutralised.
    fn print(&mut self, ink: Ink, text: &str) {
        if self.style.color && ink != Ink::Plain {
            let style = ink.style();
            // Writing to a string cannot fail.
            let _ = write!(self.text, "{}{text}{}", style.render(), style.render_reset());
        } else {
            self.text.push_str(text);
        }
    }

    fn bars(&self) -> String {
        "│ ".repeat(self.bars)
    }

    pub(super) fn blank(&mut self) {
        self.row(Row::default());
    }

    /// Rows of text below each other, the first one behind `first`.
    pub(super) fn hang<T: AsRef<str>>(
        &mut self,
        first: Row,
        ink: Ink,
        texts: impl IntoIterator<Item = T>,
    ) {
        let indent = first.width();
        let mut first = Some(first);
        for text in texts {
            match first.take() {
                Some(first) => self.row(first.then(ink, text)),
                None => self.line(indent, ink, text.as_ref()),
            }
        }
    }

    /// The beginning of rows, and how many there are beyond it.
    pub(super) fn hang_beginning(&mut self, first: Row, ink: Ink, rows: &[String], most: usize) {
        let indent = first.width();
        // A note that one row is left out would be as long as the row.
        let shown = if rows.len().saturating_sub(1) <= most { rows.len() } else { most };
        self.hang(first, ink, rows.iter().take(shown));
        self.more(indent, rows.len() - shown, "line");
    }

    /// Lines as they are, each on one row, cut where it is too long.
    pub(super) fn excerpt(
        &mut self,
        indent: usize,
        lines: Lines<'_>,
        extent: Extent,
        ink: impl Fn(&str) -> Ink,
    ) {
        let all = lines.clone().count();
        let (head, tail): (Vec<_>, Vec<_>) = if all > extent.head + extent.tail + 1 {
            let mut tail: Vec<_> = lines.clone().rev().take(extent.tail).collect();
            tail.reverse();
            (lines.take(extent.head).collect(), tail)
        } else {
            // A note that one line is left out would be as long as the line.
            (lines.collect(), Vec::new())
        };
        let (head, tail) =
            if tail.is_empty() { (&*head, &*tail) } else { (trim(&head), trim(&tail)) };
        let omitted = all - head.len() - tail.len();
        let room = self.width().saturating_sub(indent);
        head.iter().for_each(|line| self.line(indent, ink(line), &clip(&clean(line), room)));
        self.more(indent, omitted, "line");
        tail.iter().for_each(|line| self.line(indent, ink(line), &clip(&clean(line), room)));
    }

    /// The first rows of a text that has no lines to speak of: JSON, raw records.
    pub(super) fn beginning(&mut self, first: Row, ink: Ink, text: &str, most: usize) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let room = self.width().saturating_sub(first.width());
        // No character that takes no column is worth reading on for.
        let enough: String = text.chars().take(room * most + 1).collect();
        let line = neutralise_line(&enough);
        let mut rows: Vec<String> = hard_wrap(&line, room).take(most + 1).collect();
        if rows.len() > most || enough.len() < text.len() {
            rows.truncate(most);
            if let Some(last) = rows.last_mut() {
                *last = clip(&format!("{last}…"), room).into_owned();
            }
        }
        self.hang(first, ink, rows);
    }

    /// Says how much is left out, if anything.
    pub(super) fn more(&mut self, indent: usize, n: usize, thing: &str) {
        if n > 0 {
            let note = format!("… {}", human::number_of(n, &format!("more {thing}")));
            self.row(Row::indent(indent).then(Ink::Quiet, note));
        }
    }

    /// A line across the page with a title in it.
    pub(super) fn rule(&mut self, title: Row) {
        let used = title.width() + 5;
        let rest = self.width().saturating_sub(used).max(1);
        let row = Row::new(Ink::Quiet, "─── ").join(title);
        self.row(
            row.then(Ink::Quiet, format!(" {}", iter::repeat_n('─', rest).collect::<String>())),
        );
    }

    /// All rows as one text.
    pub(super) fn into_text(self) -> Batch<String> {
        Batch::from((self.rows > 0).then_some(self.text))
    }
}

/// Without empty lines at the beginning and the end.
fn trim<'s, 't>(lines: &'s [Cow<'t, str>]) -> &'s [Cow<'t, str>] {
    let is_empty = |line: &&Cow<'_, str>| line.is_empty();
    let start = lines.iter().take_while(is_empty).count();
    let lines = lines.get(start..).unwrap_or_default();
    let end = lines.len() - lines.iter().rev().take_while(is_empty).count();
    lines.get(..end).unwrap_or_default()
}
