//! [`Terminal`]: how the program prints to a terminal: its colours, and what is longer than the screen.

use std::io::{self, IsTerminal};

use clap::{Args, ValueEnum};

/// When output is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// If standard output is a terminal
    #[default]
    Auto,
    /// Also in a file or a pipe
    Always,
    /// Without colours
    Never,
}

/// The options of every verb about the terminal.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Terminal")]
pub(crate) struct Terminal {
    /// When to use colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", global = true)]
    color: Color,

    /// Print without colours, as with --color never
    #[arg(long, global = true, conflicts_with = "color")]
    no_color: bool,

    /// Print without a pager what is longer than the screen
    #[arg(long, global = true)]
    no_pager: bool,
}

impl Terminal {
    /// Whether standard output is coloured: by the options, else `NO_COLOR`, else if it is a terminal.
    pub(crate) fn is_coloured(self) -> bool {
        let no_color = || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        match self.color {
            _ if self.no_color => false,
            Color::Always => true,
            Color::Never => false,
            Color::Auto => io::stdout().is_terminal() && !no_color(),
        }
    }

    /// Whether what is longer than the screen goes through a pager.
    pub(crate) fn is_paged(self) -> bool {
        !self.no_pager && io::stdout().is_terminal()
    }
}
