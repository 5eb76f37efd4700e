//! The options of `foldline serve`.

use std::{net::SocketAddr, path::PathBuf};

use axum::http::Uri;
use clap::Args;
use jiff::tz::TimeZone;

use super::{address::parse_address, receiver::Receiver};
use crate::{
    answer::{PricesArgs, when},
    error::Error,
    homes::DatabaseOption,
    place::DatabasePlace,
};

/// The options of `foldline serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Logs, or folders of logs, to ingest and follow [default: the folders of the agents]
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) database: DatabaseOption,

    /// Address to listen on: IP:PORT, NAME:PORT or :PORT. Other machines need the token, which is in the printed link
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7433", value_parser = parse_address)]
    pub(super) listen: SocketAddr,

    #[command(flatten)]
    pub(super) access: Access,

    /// Receive the logs that other machines send with foldline push, into a folder beside the database. FILE has the name
    /// of each machine and its token, on a line. Without PATH, no other logs are read
    #[arg(long, value_name = "FILE")]
    pub(super) receive: Option<PathBuf>,

    /// Time zone of all times, such as Europe/Paris or UTC [default: the system's]
    #[arg(long, value_name = "NAME", value_parser = when::zone)]
    pub(super) timezone: Option<TimeZone>,

    #[command(flatten)]
    pub(super) prices: PricesArgs,
}

impl ServeArgs {
    /// What receives the logs of other machines, if that is requested.
    pub(super) fn receiver(&self, database: &DatabasePlace) -> Result<Option<Receiver>, Error> {
        let Some(machines) = &self.receive else { return Ok(None) };
        match database {
            DatabasePlace::File(db) => Receiver::open(machines, db).map(Some),
            DatabasePlace::Server(_) => Err(Error::WrongUse(
                "received logs are read into database files only: --receive works without postgresql://"
                    .to_owned(),
            )),
        }
    }

    /// The time zone of all times.
    pub(super) fn zone(&self) -> TimeZone {
        self.timezone.clone().unwrap_or_else(TimeZone::system)
    }
}

/// The clients that may connect, in addition to this machine.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Access {
    /// Require the token on this machine too, for machines with several users
    #[arg(long)]
    pub(crate) token: bool,

    /// File with the token, instead of a random one for each run: 16 characters or more. It is required on this machine too,
    /// and not printed
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,

    /// Host name to accept in requests, in addition to localhost and addresses; repeatable
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,

    /// Origin of another site whose pages may read the API, such as https://app.example; repeatable. With a token, they
    /// send it as a bearer
    #[arg(long = "allow-origin", value_name = "ORIGIN", value_parser = origin)]
    pub(crate) origins: Vec<String>,
}

/// An origin as browsers state it: a scheme, a host and a port that is not the usual one.
fn origin(text: &str) -> Result<String, String> {
    let is_origin = |uri: &Uri| {
        let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
        is_web && uri.path().len() <= 1 && uri.query().is_none() && !text.contains('@')
    };
    let uri = text.parse::<Uri>().ok().filter(is_origin);
    uri.ok_or("give a scheme and a host, such as https://app.example")?;
    Ok(text.trim_end_matches('/').to_ascii_lowercase())
}
