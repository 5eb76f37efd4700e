//! `foldline tools`: calls, failures and durations of tools.

use std::cmp::Reverse;

use clap::{Args, ValueEnum};
use foldline_database::query::ToolTotals;

use crate::{
    answer::{AskArgs, Listing, Value, answer},
    error::Error,
    program::Program,
};

/// The options of `foldline tools`.
#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// Sort order
    #[arg(long, value_enum, default_value_t, value_name = "BY")]
    sort: Sort,

    #[command(flatten)]
    ask: AskArgs,
}

/// The order of tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// Most calls
    #[default]
    Calls,
    /// Most failed calls
    Failed,
    /// Longest duration, as the 95th percentile
    Slow,
    /// Name
    Name,
}

/// `foldline tools`.
pub(crate) fn run(program: &Program, args: &ToolsArgs) -> Result<u8, Error> {
    answer(program, &args.ask, |asked| {
        let mut tools = asked.database.tools(&asked.filter)?;
        match args.sort {
            Sort::Calls => {}
            Sort::Failed => tools.sort_by_key(|tool| Reverse(tool.failures)),
            Sort::Slow => tools.sort_by_key(|tool| Reverse(tool.percentile(95))),
            Sort::Name => tools.sort_by_cached_key(|tool| tool.tool.to_lowercase()),
        }
        let listing = listing(&tools);
        Ok(if args.sort == Sort::Slow { listing.keeping("p95_ms") } else { listing })
    })
}

/// The tools as rows.
pub(super) fn listing(tools: &[ToolTotals]) -> Listing {
    let mut listing = Listing::named("tool calls open failures failure_rate p50_ms p95_ms");
    listing.rows.extend(tools.iter().map(|tool| {
        vec![
            tool.tool.as_str().into(),
            Value::Integer(tool.calls),
            Value::Integer(tool.open),
            Value::Integer(tool.failures),
            tool.failure_rate().map_or(Value::Null, Value::Real),
            tool.percentile(50).into(),
            tool.percentile(95).into(),
        ]
    }));
    listing.dropping("open p50_ms failure_rate p95_ms")
}
