//! The options of `foldline run`.

#[cfg(feature = "serve")]
use std::net::SocketAddr;
use std::{ffi::OsString, path::PathBuf};

use clap::Args;

#[cfg(feature = "serve")]
use crate::serve::{Access, parse_address};
use crate::sink::{ContentArgs, SinkName};

/// The options of `foldline run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Format of the output of the agent; auto detects it from the first lines
    #[arg(long, short, default_value = "auto", value_name = "NAME")]
    pub(super) executor: String,

    /// Output format
    #[arg(long, short, default_value = "transcript", value_name = "NAME")]
    pub(super) format: String,

    /// Further output to a file, or to a collector with otlp=http://HOST:4318; repeatable
    #[arg(long = "sink", value_name = "NAME[=FILE]", value_parser = SinkName::parse)]
    pub(super) sinks: Vec<SinkName>,

    #[command(flatten)]
    pub(super) content: ContentArgs,

    /// New file for the log of the agent, which can be replayed. Lines of its standard error are separate records
    #[arg(long, value_name = "FILE")]
    pub(super) log: Option<PathBuf>,

    /// Database to read the log into, about every second and at the end, also if the agent is interrupted. Without
    /// --log, the log is stored in the user's data folder
    #[arg(long, value_name = "FILE")]
    pub(super) db: Option<PathBuf>,

    /// Task of the session
    #[arg(long, value_name = "ID", requires = "db")]
    pub(super) task: Option<String>,

    /// Audit trail of the database to create or continue
    #[arg(long, value_name = "FILE", requires = "db")]
    pub(super) audit: Option<PathBuf>,

    /// Proxy mode, for agents that exchange JSON lines with a client, such as those of the Agent Client Protocol:
    /// both directions pass through unchanged and are logged, and nothing else is printed
    #[arg(long)]
    pub(super) tap: bool,

    /// Transcript width in columns [default: terminal width, else 100]
    #[arg(long, value_parser = clap::value_parser!(u16).range(20..=1000))]
    pub(super) width: Option<u16>,

    /// Command of the agent, with its arguments
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

/// The clients that may connect, and the address.
#[cfg(feature = "serve")]
#[derive(Debug, Args)]
pub(super) struct ServedArgs {
    /// Address to serve the session on while the agent works; see foldline serve. The link is printed to standard
    /// error. The server exits with the agent, after open pages have received the end. Without --db, a temporary database
    /// is used
    #[arg(long = "serve", value_name = "ADDRESS", value_parser = parse_address)]
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
