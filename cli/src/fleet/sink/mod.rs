//! `foldline sink`.

use clap::Args;

use super::cluster::ClusterArgs;
use crate::{error::Error, options::EXIT_CODES, program::Program};

/// The options of `foldline sink`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct SinkArgs {
    #[command(flatten)]
    cluster: ClusterArgs,
}

pub(crate) fn run(_: &Program, args: &SinkArgs) -> Result<u8, Error> {
    args.cluster.client()?;
    Err(Error::WrongUse("not yet".to_owned()))
}
