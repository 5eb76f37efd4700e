//! [`Row`]: one row, composed of pieces, each with its [`Ink`].

use anstyle::{AnsiColor, Style};
use smallvec::SmallVec;

use super::{
    safe_text::{Piece, SafeText},
    wrap::{Wrapped, beginning, columns, width},
};

/// One row, composed of pieces. All text added to it is neutralised.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    text: SafeText,
    /// The ink and the end of each piece.
    pieces: SmallVec<[(Ink, usize); 5]>,
    columns: usize,
}

impl Row {
    pub(super) fn new(ink: Ink, text: impl AsRef<str>) -> Self {
        Self::with_capacity().then(ink, text)
    }

    /// A row that begins with text of this program, not of a log.
    pub(super) fn mark(ink: Ink, text: &'static str) -> Self {
        Self::with_capacity().then_mark(ink, text)
    }

    pub(super) fn indent(columns: usize) -> Self {
        let mut row = Self::with_capacity();
        row.text.pad(columns);
        row.end_piece(Ink::Plain, columns);
        row
    }

    /// An empty row with capacity: most rows do not exceed it, so they are not reallocated.
    pub(super) fn with_capacity() -> Self {
        Self { text: SafeText::with_capacity(128), ..Self::default() }
    }

    fn end_piece(&mut self, ink: Ink, columns: usize) {
        self.columns += columns;
        // Adjacent text of the same ink is one piece, so that its colour is not ended and restarted.
        match self.pieces.last_mut() {
            Some((last, end)) if *last == ink => *end = self.text.len(),
            _ => self.pieces.push((ink, self.text.len())),
        }
    }

    #[must_use]
    pub(super) fn then(mut self, ink: Ink, text: impl AsRef<str>) -> Self {
        let columns = self.text.push(text.as_ref());
        self.end_piece(ink, columns);
        self
    }

    /// Appends text of this program, not of a log.
    #[must_use]
    pub(super) fn then_mark(mut self, ink: Ink, text: &'static str) -> Self {
        self.text.append(Piece::of_ours(text));
        // It is short, and seldom ASCII.
        self.end_piece(ink, text.chars().map(columns).sum());
        self
    }

    /// Appends a part of a neutralised text.
    #[must_use]
    pub(super) fn then_shown(mut self, ink: Ink, piece: Piece<'_>) -> Self {
        self.text.append(piece);
        self.end_piece(ink, width(piece.as_str()));
        self
    }

    #[must_use]
    pub(super) fn then_wrapped(mut self, ink: Ink, row: Wrapped<'_>) -> Self {
        row.push_to(&mut self.text);
        self.end_piece(ink, row.width());
        self
    }

    /// Appends `text` after a dot, unless the row is empty.
    #[must_use]
    pub(super) fn item(self, ink: Ink, text: impl AsRef<str>) -> Self {
        let row = if self.pieces.is_empty() { self } else { self.then_mark(Ink::Quiet, " · ") };
        row.then(ink, text)
    }

    #[must_use]
    pub(super) fn join(mut self, other: Self) -> Self {
        let start = self.text.len();
        self.text.append(other.text.whole());
        self.pieces.extend(other.pieces.into_iter().map(|(ink, end)| (ink, start + end)));
        self.columns += other.columns;
        self
    }

    pub(super) fn width(&self) -> usize {
        self.columns
    }

    /// The text without its inks.
    pub(super) fn into_text(self) -> String {
        self.text.whole().as_str().to_owned()
    }

    /// The pieces from left to right.
    pub(super) fn pieces(&self) -> impl Iterator<Item = (Ink, Piece<'_>)> {
        let mut start = 0;
        self.pieces.iter().map(move |(ink, end)| {
            let piece = self.text.piece(start, *end);
            start = *end;
            (*ink, piece)
        })
    }

    /// Removes trailing white space, and truncates the row to the width.
    #[must_use]
    pub(super) fn fit(mut self, room: usize) -> Self {
        self.trim_end();
        if self.columns > room {
            self.cut(room.saturating_sub(1));
        }
        self
    }

    fn trim_end(&mut self) {
        let text = self.text.whole();
        let trimmed = text.trim_end().as_str().len();
        self.columns -= width(text.split_at(trimmed).1.as_str());
        self.text.truncate(trimmed);
        // Adjusts the last piece to the end of the text; pieces of white space are removed.
        while let Some((ink, _)) = self.pieces.pop() {
            let start = self.pieces.last().map_or(0, |(_, end)| *end);
            if start < trimmed {
                return self.pieces.push((ink, trimmed));
            }
        }
    }

    /// Puts `…` after the first columns.
    fn cut(&mut self, room: usize) {
        let mut left = room;
        let fitting = self.pieces().take_while(|(_, piece)| {
            let columns = width(piece.as_str());
            let fits = columns <= left;
            left -= if fits { columns } else { 0 };
            fits
        });
        let whole = fitting.count();
        let Some((ink, piece)) = self.pieces().nth(whole) else { return };
        let kept = beginning(piece.as_str(), left).len();
        let start = self.pieces.get(..whole).and_then(<[_]>::last).map_or(0, |(_, end)| *end);
        self.text.truncate(start + kept);
        self.text.push("…");
        self.pieces.truncate(whole);
        self.pieces.push((ink, self.text.len()));
        self.columns = room + 1;
    }
}

/// The style of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TranscriptStyle {
    /// ANSI colours. The text is the same without them.
    pub color: bool,
    /// Columns; fewer than 20 count as 20.
    pub width: usize,
    /// Show all messages and outputs in full.
    pub full: bool,
}

/// 80 columns, without colours.
impl Default for TranscriptStyle {
    fn default() -> Self {
        Self::new(80)
    }
}

impl TranscriptStyle {
    /// A transcript of `width` columns, without colours.
    pub const fn new(width: usize) -> Self {
        Self { color: false, width, full: false }
    }

    /// Sets whether everything is shown in full, or only the beginning and the end of long texts.
    #[must_use]
    pub const fn with_full(mut self, full: bool) -> Self {
        self.full = full;
        self
    }

    /// Sets whether ANSI colours are used.
    #[must_use]
    pub const fn with_color(mut self, color: bool) -> Self {
        self.color = color;
        self
    }
}

/// The role of a piece of text, which determines its style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Plain,
    /// A tool's name, a title.
    Strong,
    /// Secondary text: labels, counts, output.
    Quiet,
    User,
    Assistant,
    Thinking,
    Tool,
    Good,
    Bad,
    Caution,
    Added,
    Removed,
    Hunk,
}

impl Ink {
    pub(super) fn style(self) -> Style {
        let plain = Style::new();
        match self {
            Self::Plain => plain,
            Self::Strong => plain.bold(),
            Self::Quiet => plain.dimmed(),
            Self::User => AnsiColor::Cyan.on_default().bold(),
            Self::Assistant => AnsiColor::Green.on_default().bold(),
            Self::Thinking => plain.dimmed().italic(),
            Self::Tool => AnsiColor::Blue.on_default().bold(),
            Self::Good | Self::Added => AnsiColor::Green.on_default(),
            Self::Bad | Self::Removed => AnsiColor::Red.on_default(),
            Self::Caution => AnsiColor::Yellow.on_default(),
            Self::Hunk => AnsiColor::Cyan.on_default(),
        }
    }
}
