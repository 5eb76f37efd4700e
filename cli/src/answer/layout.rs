//! [`Layout`]: how an answer is laid out.

use clap::ValueEnum;
use jiff::tz::TimeZone;

/// How an answer is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For the terminal
    #[default]
    Table,
    /// For programs, with exact values
    Json,
    /// For spreadsheets; formulas are escaped with a leading '
    Csv,
}

/// The format, the width and the time zone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout<'z> {
    pub(crate) format: OutputFormat,
    /// Of tables, in columns.
    pub(crate) width: usize,
    /// Of the moments in tables.
    pub(crate) zone: &'z TimeZone,
    /// Whether the headings of tables are bold.
    pub(crate) is_coloured: bool,
}
