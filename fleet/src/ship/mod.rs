//! `foldline-fleet ship`: sends the lines of logs to the topic of logs, while they grow.
//!
//! Each log is followed, and cut into pieces: lines with their line ends. A piece states its position in the log, so
//! that a piece that is sent again after a crash is recognised. The checkpoint stores the acknowledged position of
//! each log. It may lag behind the sent data, but is never ahead of it.
//!
//! With `--redact`, suspected secrets are masked byte by byte in the sent data. Lengths and positions stay the same,
//! so the option may differ between runs.

mod checkpoint;
mod cut;
mod examine;
mod finder;
mod flight;
mod log;
mod mask;
mod outbox;
mod reporting;
mod shipper;

use std::{fs, net::SocketAddr, path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use clap::Args;
use foldline_agents::Registry;
use foldline_cli::shared::{
    self, DistinctFiles, data_folder, or_homes, parse_seconds, parse_size, stop_flag,
};
use foldline_domain::Digest;
use rdkafka::ClientConfig;

use self::{
    checkpoint::Checkpoint, examine::host_name, finder::Finder, log::Common, mask::SharedMasker,
    outbox::Outbox, reporting::Reporting, shipper::Shipper,
};
use crate::{
    cluster::ClusterArgs,
    connection::await_sound,
    error::{EXIT_CODES, Error},
    exporter::Exporter,
    settings::Role,
};

pub(crate) fn run(registry: &Registry, args: &ShipArgs) -> Result<ExitCode, Error> {
    let client = args.cluster.client()?;
    let paths = or_homes(&args.paths, registry)?;
    for path in &paths {
        fs::metadata(path).map_err(|error| Error::Input { path: path.clone(), error })?;
    }
    let host = args.host.clone().map_or_else(host_name, Ok)?;
    let path = match &args.checkpoint {
        Some(path) => path.clone(),
        None => default_checkpoint(args, &client)?,
    };
    check_files(&path, &paths)?;
    let (checkpoint, stored) = Checkpoint::open(&path)?;
    let stop = stop_flag()?;
    let topics = args.cluster.topics();
    let exporter = args.metrics.map(|address| Exporter::start(address, "ship")).transpose()?;
    let needed = [Role::Logs, Role::Shippers];
    if !await_sound(&client, &topics, &needed, &stop, args.limit())? {
        return Err(Error::Shipping(
            "stopped before the brokers answered; nothing was sent".to_owned(),
        ));
    }
    let (max_message, limit) = (args.max_message, args.limit());
    let own = exporter.clone();
    let outbox = Outbox::new(&client, topics.logs, max_message, limit, Arc::clone(&stop), own)?;
    let reporting = Reporting::new(topics.shippers, &host, checkpoint.path(), exporter);
    let finder = Finder::new(registry, paths, args.hidden, checkpoint.path());
    let masker = args.redact.then(SharedMasker::default);
    let common = Common { host, task: args.task.clone(), max_message: args.max_message, masker };
    let finding = (finder, reporting);
    Shipper::new(registry, args, common, outbox, (checkpoint, stored), finding, stop).run()
}

/// The default checkpoint, one per fleet.
fn default_checkpoint(args: &ShipArgs, client: &ClientConfig) -> Result<PathBuf, Error> {
    let brokers = client.get("bootstrap.servers").unwrap_or_default();
    let fleet = format!("{}\n{brokers}", args.cluster.prefix);
    let fleet = Digest::of(fleet.as_bytes()).to_string();
    let name = format!("ship-{}.json", fleet.get(..12).unwrap_or(&fleet));
    let folder = data_folder().map_err(|error| match error {
        shared::Error::WrongUse(_) => Error::WrongUse(
            "there is no home directory; specify a file with --checkpoint".to_owned(),
        ),
        error => error.into(),
    })?;
    Ok(folder.join(name))
}

/// Checks that the checkpoint is not a log.
fn check_files(checkpoint: &std::path::Path, paths: &[PathBuf]) -> Result<(), Error> {
    let mut files = DistinctFiles::default();
    files.replaced("--checkpoint", checkpoint)?;
    let mut logs = paths.iter().filter(|path| !path.is_dir());
    Ok(logs.try_for_each(|path| files.input("the log", path))?)
}

/// The options of `foldline-fleet ship`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ShipArgs {
    /// Logs, and folders that are searched for logs, also later [default: the folders where agents keep their logs]
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) cluster: ClusterArgs,

    /// The agent that wrote the logs; `auto` detects it from the first lines of each
    #[arg(long, short, default_value = "auto", value_name = "NAME")]
    pub(super) executor: String,

    /// The task of the sessions
    #[arg(long, value_name = "ID")]
    pub(super) task: Option<String>,

    /// The name of this machine, used as the prefix of the names of its logs [default: its host name]
    ///
    /// It must not change: under another name the same logs are different logs.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(super) host: Option<String>,

    /// A file that stores how much of each log the brokers have acknowledged; a restarted run resumes from it
    /// [default: foldline/ship-...json in the user's data directory, one for each PREFIX and brokers]
    #[arg(long, value_name = "FILE")]
    pub(super) checkpoint: Option<PathBuf>,

    /// Ship the existing logs, then end
    #[arg(long, group = "end")]
    pub(super) once: bool,

    /// With --once or --idle-exit: fail if the brokers acknowledge nothing for this time
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "300")]
    pub(super) timeout: Duration,

    /// End when no log has grown for this time [default: at Ctrl-C or SIGTERM]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, group = "end")]
    pub(super) idle_exit: Option<Duration>,

    /// Treat the logs as complete at the end: a last line without a line end is shipped, and calls without a result
    /// end as unfinished. Needs --once or --idle-exit, and has no effect if the run is interrupted
    #[arg(long = "final", requires = "end")]
    pub(super) complete: bool,

    /// The maximum length of a message; a longer line is split over several. The topic must allow it
    /// (max.message.bytes)
    #[arg(long, default_value = "900K", value_name = "SIZE", value_parser = parse_size)]
    pub(super) max_message: usize,

    /// Mask secrets, user names in home directories, and e-mail addresses with `*` before anything leaves this
    /// machine, and report what was masked. Best effort
    ///
    /// Finds only strings of a known shape, strings after a name such as `password`, and strings that look random: a
    /// secret that looks like a word is not found, nor one that an agent prints in several lines. Images look random,
    /// too. Logs keep their lengths, so this can be turned on and off between runs; data that was shipped before
    /// remains unmasked.
    #[arg(long)]
    pub(super) redact: bool,

    /// Serve Prometheus metrics at /metrics on this address, and the health at /healthz and /readyz
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(super) metrics: Option<SocketAddr>,

    /// Also search hidden files and folders
    #[arg(long)]
    pub(super) hidden: bool,
}

impl ShipArgs {
    /// How long a run that ends by itself waits for the brokers.
    pub(super) fn limit(&self) -> Option<Duration> {
        (self.once || self.idle_exit.is_some()).then_some(self.timeout)
    }
}
