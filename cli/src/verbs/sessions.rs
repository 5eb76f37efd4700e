//! `foldline sessions`: sessions, with their totals.

use clap::{Args, ValueEnum};
use foldline_database::query::{Grouping, SessionFilter, SessionOrder, SessionRow, StateFilter};
use jiff::Timestamp;

use crate::{
    answer::{AskArgs, Kind, Listing, answer, when},
    error::Error,
    program::Program,
};

/// The options of `foldline sessions`.
#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    /// Sort order
    #[arg(long, value_enum, default_value_t, value_name = "BY")]
    sort: Sort,

    /// Only running sessions: no end is stated, and the log grew in the last minute
    #[arg(long, conflicts_with = "failed", help_heading = "Filters")]
    running: bool,

    /// Only sessions that failed, as their logs state
    #[arg(long, help_heading = "Filters")]
    failed: bool,

    /// Sub-agents too, each for itself; else a session has the totals of its sub-agents
    #[arg(long, help_heading = "Filters")]
    agents: bool,

    #[command(flatten)]
    ask: AskArgs,
}

/// The order of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// Latest activity
    #[default]
    Latest,
    /// Latest start
    Began,
    /// Longest active time: without pauses of over five minutes
    Duration,
    /// Most tokens
    Tokens,
    /// Highest cost
    Cost,
    /// Most failed calls
    Failures,
}

impl Sort {
    /// The order, and the columns that show it.
    fn order(self) -> (SessionOrder, &'static str) {
        match self {
            Self::Latest => (SessionOrder::Latest, ""),
            Self::Began => (SessionOrder::Began, ""),
            Self::Duration => (SessionOrder::Duration, "active_ms duration_ms"),
            Self::Tokens => (SessionOrder::Tokens, "input_tokens output_tokens"),
            Self::Cost => (SessionOrder::Cost, "cost_usd"),
            Self::Failures => (SessionOrder::Failures, "failures"),
        }
    }
}

impl SessionsArgs {
    fn state(&self) -> Option<StateFilter> {
        let now = || Timestamp::now().as_millisecond();
        match (self.running, self.failed) {
            (true, _) => Some(StateFilter::RunningSince(when::running_since(now()))),
            (_, true) => Some(StateFilter::Failed),
            _ => None,
        }
    }
}

/// `foldline sessions`.
pub(crate) fn run(program: &Program, args: &SessionsArgs) -> Result<u8, Error> {
    answer(program, &args.ask, |asked| {
        let (order, columns) = args.sort.order();
        let grouping = if args.agents { Grouping::Sessions } else { Grouping::Trees };
        let filter = SessionFilter { state: args.state(), grouping, ..asked.filter.clone() };
        Ok(listing(&asked.database.sessions(&filter, order)?).keeping(columns))
    })
}

/// Columns of sessions that tables omit.
const FOR_PROGRAMS: &str = "number task cwd outcome ended turns entries calls parent relation whole call source cost_basis time_basis";

/// Columns that a narrow table omits, in this order.
const LESS_IMPORTANT: &str = "warnings user host output_tokens input_tokens model agents duration_ms active_ms failures project agent began cost_usd";

/// The sessions as rows.
pub(super) fn listing(sessions: &[SessionRow]) -> Listing {
    let columns = "number session task title agent model project cwd outcome began ended duration_ms turns \
     entries calls failures agents input_tokens output_tokens cost_usd parent relation whole call source cost_basis time_basis warnings active_ms host user";
    let listing = Listing::of(columns, sessions)
        .with_kind(Kind::Short, &["session"])
        .with_kind(Kind::Number, &["agents"]);
    // Counts that most sessions lack.
    let mut hidden = FOR_PROGRAMS.to_owned();
    let mut hide = |name: &'static str, is_needed: bool| {
        if !is_needed {
            hidden.extend([" ", name]);
        }
    };
    hide("warnings", sessions.iter().any(|session| session.warnings > 0));
    hide("agents", sessions.iter().any(|session| session.agents > 0));
    // One machine and one user say nothing.
    let several = |of: fn(&SessionRow) -> &Option<String>| {
        sessions.windows(2).any(|pair| matches!(pair, [one, other] if of(one) != of(other)))
    };
    hide("host", several(|session| &session.host));
    hide("user", several(|session| &session.user));
    let listing = listing.without_in_tables(&hidden);
    listing
        .showing_behind("duration_ms", "active_ms")
        .showing_behind("failures", "warnings")
        .dropping(LESS_IMPORTANT)
}
