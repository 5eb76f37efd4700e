//! Which tools were called, which fail, and how long they take.

use clap::Args;
use foldline::emitters::sqlite::query::ToolTotals;

use crate::{
    answer::{AskArgs, Listing, Value, answer},
    error::Error,
    program::Program,
};

/// The options of `foldline tools`.
#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    #[command(flatten)]
    ask: AskArgs,
}

/// `foldline tools`.
pub(crate) fn run(program: &Program, args: &ToolsArgs) -> Result<u8, Error> {
    answer(program, &args.ask, |asked| Ok(listing(&asked.database.tools(&asked.filter)?)))
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
    listing
}
