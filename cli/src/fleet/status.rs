//! `foldline fleet status`.

use clap::Args;

use super::cluster::ClusterArgs;
use crate::error::Error;

/// The options of `foldline fleet status`.
#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    #[command(flatten)]
    cluster: ClusterArgs,
}

pub(super) fn run(args: &StatusArgs) -> Result<u8, Error> {
    args.cluster.client()?;
    Err(Error::WrongUse("not yet".to_owned()))
}
