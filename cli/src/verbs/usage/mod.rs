//! `foldline usage`: adds up tokens and their cost.

mod chart;
mod group;
pub(crate) mod used;

use std::{
    collections::BTreeSet,
    io::{self, Write},
    path::PathBuf,
};

use clap::Args;
use foldline_database::query::SessionName;

pub(crate) use self::group::{By, Group, by_model, groups};
pub(crate) use self::used::{Spent, Used};
use crate::{
    answer::{AskArgs, Layout, Listing, OutputFormat, Printed, find, note},
    error::Error,
    program::Program,
    wrap::wrap,
};

/// The options of `foldline usage`.
#[derive(Debug, Args)]
pub(crate) struct UsageArgs {
    /// Logs or folders of logs to ask instead of the database, or sessions in it
    #[arg(value_name = "PATH|SESSION")]
    about: Vec<PathBuf>,

    /// Keys of the totals, separated by commas
    #[arg(long, value_enum, value_name = "KEY", value_delimiter = ',', default_value = "day")]
    by: Vec<By>,

    /// Draw the cost of each day below the table (≈: estimated), or its tokens if no cost is known
    #[arg(long)]
    chart: bool,

    #[command(flatten)]
    ask: AskArgs,
}

/// `foldline usage`.
pub(crate) fn run(program: &Program, args: &UsageArgs) -> Result<u8, Error> {
    let AskArgs { database, filters, prices, print } = &args.ask;
    let prices = prices.load()?;
    let (mut filter, zone) = (filters.chosen()?, filters.zone());
    let (names, logs) = find::names_and_logs(&args.about);
    let database = database.or_logs(&logs).open(program)?;
    filters.check_agent(program, Some(&*database))?;
    if !names.is_empty() {
        let sessions =
            names.iter().map(|name| find::session(&*database, name, &Default::default()));
        filter.name = Some(SessionName::Numbers(sessions.collect::<Result<_, _>>()?));
    }
    let sessions = database.usage(&filter)?;
    let mut seen = BTreeSet::new();
    let by: Vec<By> = args.by.iter().copied().filter(|by| seen.insert(*by)).collect();
    let titles = match by.contains(&By::Session) {
        true => database.titles()?,
        false => group::Titles::new(),
    };
    database.confirm()?;
    let used = Used::new(&sessions, &filter, &prices);
    let total = used.total();
    let has_cached = total.tokens.cache_read_tokens.or(total.tokens.cache_write_tokens) > Some(0);
    let listing = group::listing(&by, &groups(&used, &by, &zone), &total, &titles);
    let chart = args.chart.then(|| groups(&used, &[By::Day], &zone));
    let notes = if print.format == OutputFormat::Table { used.notes() } else { Vec::new() };
    if print.format != OutputFormat::Table {
        used.report();
    }
    print.print(program, UsageAnswer { listing, has_cached, chart, notes }, &zone)?;
    Ok(database.exit_code())
}

struct UsageAnswer<'s> {
    listing: Listing,
    has_cached: bool,
    chart: Option<Vec<Group<'s>>>,
    /// What is left out, and why costs are unknown.
    notes: Vec<String>,
}

impl Printed for UsageAnswer<'_> {
    fn into_listing(self) -> Option<Listing> {
        Some(self.listing)
    }

    fn limit(&mut self, limit: usize) -> bool {
        self.listing.limit(limit)
    }

    fn write(&self, out: &mut dyn Write, layout: Layout<'_>) -> io::Result<()> {
        self.listing.write(out, layout)?;
        if layout.format != OutputFormat::Table {
            return Ok(());
        }
        if self.has_cached {
            note(
                out,
                "input includes cache read and cache write",
                (layout.width, layout.is_coloured),
            )?;
        }
        if let Some(days) = &self.chart {
            writeln!(out)?;
            chart::write(out, days, layout.width)?;
        }
        if !self.notes.is_empty() {
            writeln!(out)?;
        }
        let notes = self.notes.iter().map(|note| wrap(note, layout.width, 0));
        notes.into_iter().try_for_each(|note| writeln!(out, "{note}"))
    }
}
