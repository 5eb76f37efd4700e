//! The options of `foldline run`.

#[cfg(feature = "serve")]
use std::net::SocketAddr;
use std::{ffi::OsString, path::PathBuf};

use clap::Args;

#[cfg(feature = "serve")]
use crate::serve::Access;
use crate::{options::Color, sink::SinkName};

/// The options of `foldline run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Which agent it is; `auto` looks at its first lines
    #[arg(long, short, default_value = "auto", value_name = "NAME")]
    pub(super) executor: String,

    /// What to print
    #[arg(long, short, default_value = "transcript", value_name = "NAME")]
    pub(super) format: String,

    /// A further output, to a file. May be given again
    #[arg(long = "sink", value_name = "NAME=FILE", value_parser = SinkName::parse)]
    pub(super) sinks: Vec<SinkName>,

    /// Write what the agent prints to this file, from which everything can be replayed. Lines of its standard
    /// error are records of their own there. The file must not exist
    #[arg(long, value_name = "FILE")]
    pub(super) log: Option<PathBuf>,

    /// Read the log into this database while the agent works, about every second, and in the end, also if the
    /// agent was interrupted. Without --log, the log is kept in the user's folder for data
    #[arg(long, value_name = "FILE")]
    pub(super) db: Option<PathBuf>,

    /// The task that the session belongs to
    #[arg(long, value_name = "ID", requires = "db")]
    pub(super) task: Option<String>,

    /// An audit trail of the database to continue, or to begin
    #[arg(long, value_name = "FILE", requires = "db")]
    pub(super) audit: Option<PathBuf>,

    /// Only listen: what another program says to the agent, and what the agent answers, pass through unchanged,
    /// and both are in the log. For agents that are spoken to in JSON lines, such as those of the Agent Client
    /// Protocol. Nothing is printed but what the agent prints
    #[arg(long)]
    pub(super) tap: bool,

    /// Whether the transcript is coloured
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub(super) color: Color,

    /// The transcript's width in columns [default: that of the terminal, else 100]
    #[arg(long, value_parser = clap::value_parser!(u16).range(20..=1000))]
    pub(super) width: Option<u16>,

    /// The command that starts the agent, with its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    pub(super) command: Vec<OsString>,

    #[cfg(feature = "serve")]
    #[command(flatten, next_help_heading = "Options of --serve")]
    pub(super) served: ServedArgs,
}

/// Who may watch the agent, and where.
#[cfg(feature = "serve")]
#[derive(Debug, Args)]
pub(super) struct ServedArgs {
    /// Show the session in the browser while the agent works: see `serve`. The link is printed to standard error.
    /// The server ends with the agent, as soon as the pages that are open have what came last. Without --db, the
    /// database goes with it
    #[arg(long = "serve", value_name = "ADDRESS")]
    pub(super) address: Option<SocketAddr>,

    #[command(flatten)]
    pub(super) access: Access,
}

impl RunArgs {
    /// Whether the session is shown in the browser.
    pub(super) fn is_served(&self) -> bool {
        #[cfg(feature = "serve")]
        return self.served.address.is_some();
        #[cfg(not(feature = "serve"))]
        false
    }
}
