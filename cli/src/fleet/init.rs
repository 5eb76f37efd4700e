//! `foldline fleet init`.

use clap::Args;

use super::cluster::ClusterArgs;
use crate::error::Error;

/// The options of `foldline fleet init`.
#[derive(Debug, Args)]
pub(super) struct InitArgs {
    #[command(flatten)]
    cluster: ClusterArgs,
}

pub(super) fn run(args: &InitArgs) -> Result<u8, Error> {
    args.cluster.client()?;
    Err(Error::WrongUse("not yet".to_owned()))
}
