//! The style of a transcript: its width, and the meaning of each colour.

use anstyle::{AnsiColor, Style};

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
