//! Printing of answers.

use std::{
    io::{self, BufWriter, Write},
    sync::PoisonError,
};

use clap::Args;
use foldline_render::human;
use jiff::tz::TimeZone;

use super::{
    json::write_json,
    layout::{Layout, OutputFormat},
    listing::Listing,
};
use crate::{error::Error, options::width, pager::Output, program::Program, say::say};

/// The options of printing.
#[derive(Clone, Debug, Args)]
pub(crate) struct PrintArgs {
    /// Output format
    #[arg(long, short, value_enum, default_value_t, global = true, help_heading = "Output")]
    pub(crate) format: OutputFormat,

    /// Largest number of rows; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 100, global = true)]
    #[arg(help_heading = "Output")]
    limit: usize,

    /// Table width in columns [default: terminal width, else 100]
    #[arg(long, value_parser = clap::value_parser!(u16).range(20..=10_000), global = true)]
    #[arg(help_heading = "Output")]
    pub(crate) width: Option<u16>,
}

/// An answer.
pub(crate) trait Printed: Sized {
    /// Removes rows over the limit. Returns whether any were removed.
    fn limit(&mut self, limit: usize) -> bool;

    /// Writes it.
    fn write(&self, out: &mut dyn Write, layout: Layout<'_>) -> io::Result<()>;

    /// Its rows; `None` if it is more than rows.
    fn into_listing(self) -> Option<Listing> {
        None
    }
}

impl Printed for Listing {
    fn into_listing(self) -> Option<Self> {
        Some(self)
    }

    fn limit(&mut self, limit: usize) -> bool {
        let is_over = self.rows.len() > limit;
        self.rows.truncate(limit);
        is_over
    }

    fn write(&self, out: &mut dyn Write, layout: Layout<'_>) -> io::Result<()> {
        match layout.format {
            OutputFormat::Table => self.write_table(out, layout),
            OutputFormat::Json => write_json(out, self),
            OutputFormat::Csv => self.write_csv(out),
        }
    }
}

impl PrintArgs {
    /// The largest number of rows.
    pub(crate) fn limit(&self) -> usize {
        if self.limit == 0 { usize::MAX } else { self.limit }
    }

    /// Prints an answer to standard output, or what is longer than the screen through a pager; or keeps its rows for the
    /// caller of the program.
    pub(crate) fn print(
        &self,
        program: &Program,
        mut answer: impl Printed,
        zone: &TimeZone,
    ) -> Result<(), Error> {
        let (is_cut, terminal) = (answer.limit(self.limit()), program.terminal);
        if let Some(kept) = &program.answer {
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = answer.into_listing();
            return Ok(());
        }
        let is_coloured = terminal.is_coloured();
        let layout = Layout { format: self.format, width: width(self.width), zone, is_coloured };
        let mut out = BufWriter::new(Output::paged(terminal));
        answer.write(&mut out, layout).and_then(|()| Output::end(out)).map_err(Error::Output)?;
        if is_cut {
            say(&format!(
                "there is more than the {} shown; --limit 0 shows all",
                human::number_of(self.limit, "row")
            ));
        }
        Ok(())
    }
}
