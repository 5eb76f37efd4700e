//! `foldline usage`: adds up tokens and their cost.
//!
//! They are read directly from the logs, or from a database with `--db`; the answer is the same.

mod chart;
mod group;
pub(crate) mod logs;
pub(crate) mod used;

use std::{
    collections::BTreeSet,
    io::{self, Write},
    path::PathBuf,
};

use clap::Args;
use foldline_database::query::Period;
use foldline_domain::Timestamp;

pub(crate) use self::group::{By, Group, by_model, groups};
pub(crate) use self::used::{Spent, Used};
use crate::{
    answer::{
        Filters, Layout, Listing, Opened, OutputFormat, PricesArgs, PrintArgs, Printed, find, note,
    },
    distinct::DistinctFiles,
    error::Error,
    place::DatabasePlace,
    program::Program,
    wrap::wrap,
};

/// The options of `foldline usage`.
#[derive(Debug, Args)]
pub(crate) struct UsageArgs {
    /// Logs, or folders of logs [default: the folders of the agents]
    paths: Vec<PathBuf>,

    /// Keys of the totals, separated by commas
    #[arg(long, value_enum, value_name = "KEY", value_delimiter = ',', default_value = "day")]
    by: Vec<By>,

    /// Read this database instead of the logs: a file, or postgresql://USER@HOST/NAME
    #[arg(long, value_name = "FILE", conflicts_with = "paths")]
    db: Option<PathBuf>,

    /// Draw the cost of each day below the table (≈: estimated), or its tokens if no cost is known
    #[arg(long)]
    chart: bool,

    #[command(flatten)]
    prices: PricesArgs,

    #[command(flatten)]
    filters: Filters,

    #[command(flatten)]
    print: PrintArgs,
}

/// `foldline usage`.
pub(crate) fn run(program: &Program, args: &UsageArgs) -> Result<u8, Error> {
    let prices = args.prices.load()?;
    let (mut filter, zone) = (args.filters.chosen()?, args.filters.zone());
    filter.period = quarters(filter.period);
    let (sessions, code) = match &args.db {
        Some(db) => {
            let place = DatabasePlace::of(db.clone().into_os_string());
            if let DatabasePlace::File(path) = &place {
                DistinctFiles::of_database(path)?;
            }
            let database = Opened::of(&place)?;
            args.filters.check_agent(program, Some(&*database))?;
            let sessions = database.usage()?;
            database.confirm()?;
            (sessions, database.exit_code())
        }
        None => {
            args.filters.check_agent(program, None)?;
            let paths = find::logs(program, &args.paths)?;
            let read = logs::read(program, &paths, logs::Exactness::Quarters)?;
            let code = read.report();
            (read.sessions, code)
        }
    };
    let used = Used::new(&sessions, &filter, &prices);
    let mut seen = BTreeSet::new();
    let by: Vec<By> = args.by.iter().copied().filter(|by| seen.insert(*by)).collect();
    let titles = group::titles(&sessions);
    let total = used.total();
    let has_cached = total.tokens.cache_read_tokens.or(total.tokens.cache_write_tokens) > Some(0);
    let listing = group::listing(&by, &groups(&used, &by, &zone), &total, &titles);
    let chart = args.chart.then(|| groups(&used, &[By::Day], &zone));
    let notes = if args.print.format == OutputFormat::Table { used.notes() } else { Vec::new() };
    if args.print.format != OutputFormat::Table {
        used.report();
    }
    args.print.print(UsageAnswer { listing, has_cached, chart, notes }, &zone)?;
    Ok(code)
}

/// The time range, extended to the beginning of its quarter of an hour, since stored usage is not more precise.
pub(crate) fn quarters(period: Period) -> Period {
    match period {
        Period::ALL => period,
        Period { start, .. } => {
            Period { start: Timestamp::from_millis(start).quarter_hour().as_millis(), ..period }
        }
    }
}

struct UsageAnswer<'s> {
    listing: Listing,
    has_cached: bool,
    chart: Option<Vec<Group<'s>>>,
    /// What is left out, and why costs are unknown.
    notes: Vec<String>,
}

impl Printed for UsageAnswer<'_> {
    fn limit(&mut self, limit: usize) -> bool {
        self.listing.limit(limit)
    }

    fn write(&self, out: &mut dyn Write, layout: Layout<'_>) -> io::Result<()> {
        self.listing.write(out, layout)?;
        if layout.format != OutputFormat::Table {
            return Ok(());
        }
        if self.has_cached {
            note(out, "input includes cache read and cache write", layout.width)?;
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
