//! `foldline` without arguments: what runs and waits, what today and this week used, the stated limits, and the last
//! sessions. The first page of `foldline serve` says the same.

mod print;

use std::{
    io::{self, Write as _},
    sync::Arc,
};

use foldline_database::{
    Store,
    query::{Grouping, OpenCall, Period, SessionFilter, SessionOrder, SessionRow, StateFilter},
    usage::all_tokens,
};
use foldline_domain::{
    Limit,
    pricing::{Cost, Prices},
};
use jiff::{Timestamp, tz::TimeZone};

use super::{homes, limits, usage::Used};
use crate::{
    answer::{DatabaseArgs, Layout, OutputFormat, PricesArgs, when},
    error::Error,
    homes::existing,
    options::width,
    place::DatabasePlace,
    program::Program,
    project,
};

/// What is going on.
pub(crate) struct Today {
    /// Sessions that are running, those that wait for a person first.
    pub(crate) running: Vec<Running>,
    pub(crate) today: Activity,
    pub(crate) week: Activity,
    /// The stated limits whose windows have not ended, by agent.
    pub(crate) limits: Vec<(String, Limit)>,
}

/// A running session.
pub(crate) struct Running {
    pub(crate) session: SessionRow,
    /// The call that it waits for.
    pub(crate) call: Option<OpenCall>,
}

/// What was done in a time.
pub(crate) struct Activity {
    /// Sessions that were active, and how many of them failed, as their logs state.
    pub(crate) sessions: u64,
    pub(crate) failed: u64,
    /// Failed calls.
    pub(crate) failures: u64,
    /// Input and output.
    pub(crate) tokens: u64,
    pub(crate) cost: Option<Cost>,
}

impl Running {
    /// Whether it waits for a person.
    pub(crate) fn is_waiting(&self) -> bool {
        self.session.waiting > 0
    }
}

impl Today {
    /// What a database says at a moment, in milliseconds since 1970.
    pub(crate) fn of(
        database: &dyn Store,
        prices: &Prices,
        zone: &TimeZone,
        now: i64,
    ) -> Result<Self, Error> {
        let time =
            |name| Ok::<_, Error>(Period { end: Period::ALL.end, ..when::parse(name, zone)? });
        let since = when::running_since(now);
        let filter =
            SessionFilter { state: Some(StateFilter::RunningSince(since)), ..listed(Period::ALL) };
        let mut running = Vec::new();
        for session in database.sessions(&filter, SessionOrder::Latest)? {
            let call = database.open_call_of_tree(session.number)?;
            running.push(Running { session, call });
        }
        running.sort_by_key(|running| !running.is_waiting());
        let mut limits = Vec::new();
        for agent in database.agents()? {
            let current = limits::current(database.limits(&agent)?, now);
            limits.extend(current.into_iter().map(|limit| (agent.clone(), limit)));
        }
        Ok(Self {
            running,
            today: Activity::of(database, prices, time("today")?)?,
            week: Activity::of(database, prices, time("this week")?)?,
            limits,
        })
    }

    /// A limit in words.
    pub(crate) fn limit(limit: &Limit, now: i64, zone: &TimeZone) -> String {
        limits::sentence(limit, now, zone)
    }
}

impl Activity {
    fn of(database: &dyn Store, prices: &Prices, period: Period) -> Result<Self, Error> {
        let filter = listed(period);
        let (count, [failed]) = database.state_counts(&filter, [StateFilter::Failed])?;
        let tools = database.tools(&filter)?;
        let sessions = database.usage(&filter)?;
        let total = Used::new(&sessions, &filter, prices).total();
        Ok(Self {
            sessions: count,
            failed,
            failures: tools.iter().filter_map(|tool| u64::try_from(tool.failures).ok()).sum(),
            tokens: all_tokens(&total.tokens),
            cost: total.cost,
        })
    }
}

/// The sessions of a time that have entries.
fn listed(period: Period) -> SessionFilter {
    SessionFilter { period, is_listed: true, grouping: Grouping::Trees, ..SessionFilter::default() }
}

/// The last sessions of the project of this folder, followed by the others.
fn recent(database: &dyn Store, count: usize) -> Result<Vec<SessionRow>, Error> {
    let latest = |project: Option<String>| {
        let filter = SessionFilter { project, limit: Some(count), ..listed(Period::ALL) };
        Ok::<_, Error>(database.sessions(&filter, SessionOrder::Latest)?)
    };
    let here = project::here().map(|project| latest(Some(project)));
    let mut all = here.transpose()?.unwrap_or_default();
    // Others are seen as well.
    all.truncate(count.div_ceil(2));
    for session in latest(None)? {
        if all.len() < count && all.iter().all(|known| known.number != session.number) {
            all.push(session);
        }
    }
    Ok(all)
}

/// `foldline` without arguments.
pub(crate) fn run(program: &Program) -> Result<u8, Error> {
    let args = DatabaseArgs::default();
    let is_new = match args.place()? {
        DatabasePlace::File(path) => !path.exists(),
        DatabasePlace::Server(_) => false,
    };
    if is_new && existing(&program.registry).is_empty() {
        return homes::run(program);
    }
    let database = args.open(program)?;
    let prices = Arc::new(PricesArgs::default().load()?.into_owned());
    database.estimate_with(Arc::clone(&prices))?;
    let (zone, now) = (TimeZone::system(), Timestamp::now().as_millisecond());
    let today = Today::of(&*database, &prices, &zone, now)?;
    let recent = recent(&*database, print::RECENT)?;
    database.confirm()?;
    let days = super::keep::claude_days(&program.registry);
    let mut out = io::stdout().lock();
    let layout = Layout {
        format: OutputFormat::Table,
        width: width(None),
        zone: &zone,
        is_coloured: program.terminal.is_coloured(),
    };
    print::print(&today, &recent, days, now, layout, &mut out)
        .and_then(|()| out.flush())
        .map_err(Error::Output)?;
    Ok(database.exit_code())
}
