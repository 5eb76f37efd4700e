//! [`Page`]: the rows that one event adds to the transcript.

use std::{borrow::Cow, iter};

use foldline::transduce::Batch;
use foldline_domain::Lines;

use super::{
    row::{Ink, Row, TranscriptStyle},
    safe_text::SafeText,
    wrap::{Wrapped, clip, hard_wrap},
};
use crate::human;

/// The rows added by one event, to the right of the bars that mark a sub-agent's work.
#[derive(Debug)]
pub(super) struct Page {
    style: TranscriptStyle,
    bars: usize,
    rows: usize,
    text: SafeText,
}

/// How much of a long text is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) head: usize,
    pub(super) tail: usize,
}

impl Page {
    /// More bars would leave no room for text.
    const MAX_BARS: usize = 4;
    const MIN_TEXT: usize = 24;

    pub(super) fn new(style: TranscriptStyle) -> Self {
        Self { style, bars: 0, rows: 0, text: SafeText::default() }
    }

    /// Following rows are indented by this many bars.
    pub(super) fn set_depth(&mut self, depth: usize) {
        let room = self.style.width.saturating_sub(Self::MIN_TEXT) / 2;
        self.bars = depth.min(Self::MAX_BARS).min(room);
    }

    /// The columns to the right of the bars.
    pub(super) fn width(&self) -> usize {
        self.style.width - 2 * self.bars
    }

    /// Whether long texts are shown in full.
    pub(super) fn is_full(&self) -> bool {
        self.style.full
    }

    /// The limit for a long item.
    pub(super) fn most(&self, most: usize) -> usize {
        if self.style.full { usize::MAX } else { most }
    }

    /// The number of rows so far.
    pub(super) fn len(&self) -> usize {
        self.rows
    }

    /// Adds a row, truncated to the width, without trailing white space.
    pub(super) fn row(&mut self, row: Row) {
        let row = if self.bars > 0 { Row::new(Ink::Quiet, self.bars()).join(row) } else { row };
        self.begin_row();
        for (ink, piece) in row.fit(self.style.width).pieces() {
            self.print(ink, |text| text.append(piece));
        }
    }

    /// Adds a row of one text that is known to fit. Most rows are of this kind: they are written only once.
    fn line(&mut self, indent: usize, ink: Ink, write: impl FnOnce(&mut SafeText)) {
        let (rows, before) = (self.rows, self.text.len());
        self.begin_row();
        if self.bars > 0 {
            let bars = self.bars();
            self.print(Ink::Quiet, |text| _ = text.push(&bars));
        }
        self.text.pad(indent);
        let is_seen = self.print(ink, |text| {
            let start = text.len();
            write(text);
            text.trim_end(start);
            text.len() > start
        });
        if !is_seen {
            self.text.truncate(before);
            self.rows = rows;
            self.blank();
        }
    }

    /// Adds a row of wrapped text.
    fn wrapped(&mut self, indent: usize, ink: Ink, row: Wrapped<'_>) {
        // A text of zero width always fits, but its indentation may not.
        if indent <= self.width() && row.fits(self.width() - indent) {
            self.line(indent, ink, |text| row.push_to(text));
        } else {
            self.row(Row::indent(indent).then_wrapped(ink, row));
        }
    }

    fn begin_row(&mut self) {
        match self.rows {
            // Sufficient for most events.
            0 => self.text = SafeText::with_capacity(1024),
            _ => self.text.end_line(),
        }
        self.rows += 1;
    }

    /// Prints the written text in colour, if colours are enabled.
    fn print<T>(&mut self, ink: Ink, write: impl FnOnce(&mut SafeText) -> T) -> T {
        match self.style.color && ink != Ink::Plain {
            true => self.text.paint(ink, write),
            false => write(&mut self.text),
        }
    }

    fn bars(&self) -> String {
        "│ ".repeat(self.bars)
    }

    pub(super) fn blank(&mut self) {
        match self.bars {
            0 => self.begin_row(),
            _ => self.row(Row::default()),
        }
    }

    /// Rows of text, the first one after `first`.
    pub(super) fn hang<'t>(
        &mut self,
        first: Row,
        ink: Ink,
        rows: impl IntoIterator<Item = Wrapped<'t>>,
    ) {
        let indent = first.width();
        let mut first = Some(first);
        for row in rows {
            match first.take() {
                Some(first) => self.row(first.then_wrapped(ink, row)),
                None => self.wrapped(indent, ink, row),
            }
        }
    }

    /// The first rows, and the number of further ones.
    pub(super) fn hang_beginning(
        &mut self,
        first: Row,
        ink: Ink,
        rows: &[Wrapped<'_>],
        most: usize,
    ) {
        let (indent, most) = (first.width(), self.most(most));
        // A note that one row is omitted would be as long as the row.
        let shown = if rows.len().saturating_sub(1) <= most { rows.len() } else { most };
        self.hang(first, ink, rows.iter().copied().take(shown));
        self.more(indent, rows.len() - shown, "more line");
    }

    /// Lines, each on one row, truncated if too long; wrapped if everything is shown. `look` determines the style and
    /// the visible part of a line.
    pub(super) fn excerpt(
        &mut self,
        indent: usize,
        lines: Lines<'_>,
        extent: Extent,
        look: impl Fn(&str) -> (Ink, &str),
    ) {
        if self.style.full {
            return lines.for_each(|line| {
                let (ink, line) = look(&line);
                self.whole_line(indent, line, ink);
            });
        }
        let room = self.width().saturating_sub(indent);
        let print = |page: &mut Self, line: &str| {
            let (ink, line) = look(line);
            page.line(indent, ink, |text| text.push_line(line, room));
        };
        let all = lines.clone().count();
        // A note that one line is omitted would be as long as the line.
        if all <= extent.head + extent.tail + 1 {
            return lines.for_each(|line| print(self, &line));
        }
        let mut tail: Vec<_> = lines.clone().rev().take(extent.tail).collect();
        tail.reverse();
        let head: Vec<_> = lines.take(extent.head).collect();
        let (head, tail) = (trim(&head), trim(&tail));
        head.iter().for_each(|line| print(self, line));
        self.more(indent, all - head.len() - tail.len(), "more line");
        tail.iter().for_each(|line| print(self, line));
    }

    fn whole_line(&mut self, indent: usize, line: &str, ink: Ink) {
        let mut shown = SafeText::default();
        shown.push_line(line, usize::MAX);
        if shown.len() == 0 {
            return self.blank();
        }
        let room = self.width().saturating_sub(indent).max(1);
        self.hang(Row::indent(indent), ink, hard_wrap(shown.whole(), room));
    }

    /// The first rows of a text without meaningful lines: JSON, raw records.
    pub(super) fn beginning(&mut self, first: Row, ink: Ink, text: &str, most: usize) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let room = self.width().saturating_sub(first.width());
        let most = self.most(most);
        // No character of zero width is worth reading further for.
        let enough: String =
            text.chars().take(room.saturating_mul(most).saturating_add(1)).collect();
        let mut line = SafeText::default();
        line.push(&enough);
        let mut rows: Vec<_> = hard_wrap(line.whole(), room).take(most.saturating_add(1)).collect();
        let is_cut = rows.len() > most || enough.len() < text.len();
        let mut end = SafeText::default();
        if is_cut {
            rows.truncate(most);
            if let Some(last) = rows.pop() {
                end.push(&clip(&format!("{}…", last.text.as_str()), room));
            }
        }
        let end = is_cut.then(|| Wrapped { hanging: 0, text: end.whole() });
        self.hang(first, ink, rows.into_iter().chain(end));
    }

    /// States how much is omitted, if anything, as in `more line`.
    pub(super) fn more(&mut self, indent: usize, n: usize, thing: &str) {
        if n > 0 {
            let note = Row::indent(indent).then_mark(Ink::Quiet, "… ");
            self.row(note.then(Ink::Quiet, human::number_of(n, thing)));
        }
    }

    /// A line across the page with a title.
    pub(super) fn rule(&mut self, title: Row) {
        let used = title.width() + 5;
        let rest = self.width().saturating_sub(used).max(1);
        let row = Row::mark(Ink::Quiet, "─── ").join(title);
        self.row(
            row.then(Ink::Quiet, format!(" {}", iter::repeat_n('─', rest).collect::<String>())),
        );
    }

    /// All rows as one text.
    pub(super) fn into_text(self) -> Batch<String> {
        Batch::from((self.rows > 0).then(|| self.text.into_string()))
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
