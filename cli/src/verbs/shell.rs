//! `foldline completions` and `foldline man`: shell completions and manual pages.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::{Args, Command};
use clap_complete::{Shell, env::Shells};
use clap_mangen::Man;

use crate::{complete::VARIABLE, error::Error, exit};

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

/// Prints a script for a shell that asks this program for completions.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<u8, Error> {
    let (shells, shell) = (Shells::builtins(), args.shell.to_string());
    let mut script = Vec::new();
    let written = shells.completer(&shell).map(|shell| {
        shell.write_registration(VARIABLE, "foldline", "foldline", "foldline", &mut script)
    });
    written.unwrap_or(Ok(())).map_err(Error::Output)?;
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
