//! How a transcript looks: its width, and what each colour is for.

use anstyle::{AnsiColor, Style};

/// How a transcript looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TranscriptStyle {
    /// With ANSI colours. Without them the text is the same.
    pub color: bool,
    /// Columns; fewer than 20 count as 20.
    pub width: usize,
    /// With everything that is said, read and printed, however long it is.
    pub full: bool,
}

impl TranscriptStyle {
    /// A transcript of `width` columns, without colours.
    pub const fn new(width: usize) -> Self {
        Self { color: false, width, full: false }
    }

    /// The same, with everything in full, or with the beginning and the end of what is long.
    #[must_use]
    pub const fn with_full(mut self, full: bool) -> Self {
        self.full = full;
        self
    }

    /// The same, with ANSI colours or without.
    #[must_use]
    pub const fn with_color(mut self, color: bool) -> Self {
        self.color = color;
        self
    }
}

/// What a piece of text is, as far as its looks go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Plain,
    /// A tool's name, a title.
    Strong,
    /// What surrounds the talk: labels, counts, output.
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
