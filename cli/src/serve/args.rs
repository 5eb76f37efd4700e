//! The options of `foldline serve`.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

use crate::{answer::PricesArgs, homes::DatabaseOption};

/// The options of `foldline serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Logs, and folders of logs, to read into the database and to follow [default: where the agents keep theirs]
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) database: DatabaseOption,

    /// Where to listen. On an address that other machines can reach, a token is demanded; it is in the link that
    /// is printed
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7433")]
    pub(super) listen: SocketAddr,

    #[command(flatten)]
    pub(super) access: Access,

    #[command(flatten)]
    pub(super) prices: PricesArgs,
}

/// Who may ask, besides this machine.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Access {
    /// Demand the token from this machine too, where other people use it
    #[arg(long)]
    pub(crate) token: bool,

    /// A name of this machine that requests may use, besides `localhost` and addresses. May be given again
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
}
