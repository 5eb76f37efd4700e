//! The options of `foldline mcp`.

use clap::Args;
use jiff::tz::TimeZone;

use super::print_config::Client;
use crate::answer::{DatabaseArgs, PricesArgs, when};

/// The options of `foldline mcp`.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    pub(super) database: DatabaseArgs,

    /// Replace secrets, home directories and e-mail addresses in every answer, best effort
    #[arg(long)]
    pub(super) redact: bool,

    /// Print what to paste into the configuration of a client, and end
    #[arg(long, value_enum, value_name = "CLIENT", conflicts_with_all = ["timezone", "prices", "no_refresh"])]
    pub(super) print_config: Option<Client>,

    /// Time zone of all times, such as Europe/Paris or UTC [default: the system's]
    #[arg(long, value_name = "NAME", value_parser = when::zone)]
    pub(super) timezone: Option<TimeZone>,

    #[command(flatten)]
    pub(super) prices: PricesArgs,
}
