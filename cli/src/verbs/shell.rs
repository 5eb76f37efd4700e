//! `foldline completions` and `foldline man`: shell completions and manual pages.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::{Args, Command};
use clap_complete::{Shell, generate};
use clap_mangen::Man;

use crate::{error::Error, exit};

/// The options of `foldline completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell
    shell: Shell,
}

/// The options of `foldline man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Folder to write one page for each command to [default: print the page of foldline]
    folder: Option<PathBuf>,
}

/// Prints a script that completes the arguments of this command.
pub(crate) fn completions(mut command: Command, args: &CompletionsArgs) -> Result<u8, Error> {
    let mut script = Vec::new();
    generate(args.shell, &mut command, "foldline", &mut script);
    io::stdout().write_all(&script).map_err(Error::Output)?;
    Ok(exit::SUCCESS)
}

/// Prints or writes the manual of this command.
pub(crate) fn man(command: Command, args: &ManArgs) -> Result<u8, Error> {
    match &args.folder {
        None => Man::new(command).render(&mut io::stdout()).map_err(Error::Output)?,
        Some(folder) => {
            let written = std::fs::create_dir_all(folder)
                .and_then(|()| clap_mangen::generate_to(command, folder));
            written.map_err(|error| Error::output(folder, &error))?;
        }
    }
    Ok(exit::SUCCESS)
}
