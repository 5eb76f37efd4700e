//! `foldline-fleet ship`: sends the lines of logs to the topic of logs, while they grow.
//!
//! Each log is followed, and cut into pieces: lines with their line ends. A piece states its position in the log, so
//! that a piece that is sent again after a crash is recognised. The checkpoint stores the acknowledged position of
//! each log. It may lag behind the sent data, but is never ahead of it.
//!
//! With `--redact`, suspected secrets are masked byte by byte in the sent data. Lengths and positions stay the same,
//! so the option may differ between runs.

mod args;
mod checkpoint;
mod cut;
mod examine;
mod finder;
mod flight;
mod hole;
mod log;
mod look;
mod mark;
mod mask;
mod naming;
mod opening;
mod outbox;
mod reporting;
mod shipper;

use std::{fs, path::PathBuf, sync::Arc};

use foldline_agents::Registry;
use foldline_cli::shared::{self, DistinctFiles, data_folder, or_homes, stop_flag};
use foldline_domain::Digest;
use rdkafka::ClientConfig;

pub(crate) use self::args::ShipArgs;
use self::{
    checkpoint::Checkpoint, finder::Finder, log::Common, mask::SharedMasker, outbox::Outbox,
    reporting::Reporting, shipper::Shipper,
};
use crate::{error::Error, exporter::Exporter, settings::Role, sound::await_sound};

pub(crate) fn run(registry: &Registry, args: &ShipArgs) -> Result<u8, Error> {
    let client = args.cluster.client()?;
    let paths = or_homes(&args.paths, registry)?;
    for path in &paths {
        fs::metadata(path).map_err(|error| Error::Input { path: path.clone(), error })?;
    }
    let host = args.host.clone().map_or_else(naming::host, Ok)?;
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
