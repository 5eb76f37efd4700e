//! Key files, and `foldline audit-key`, which creates them.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use foldline::files::owner_only;
use foldline_domain::audit::{KeyError, PublicKey, SigningKey};
use foldline_render::terminal::neutralise_line;

use crate::{error::Error, exit};

/// The longest file of a key.
const MAX_FILE: u64 = 64 << 10;

/// The options of `foldline audit-key`.
#[derive(Debug, Args)]
pub(crate) struct AuditKeyArgs {
    /// New file of the private key, for ingest --sign; FILE.pub is the public key, for verify --key
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(crate) fn run(args: &AuditKeyArgs) -> Result<u8, Error> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(|error| Error::Output(io::Error::other(error)))?;
    let key = SigningKey::from_secret(secret);
    let mut public = args.file.clone().into_os_string();
    public.push(".pub");
    create(&args.file, &key.to_pem())?;
    create(public.as_ref(), &key.public_key().to_pem()).inspect_err(|_| {
        let _ = fs::remove_file(&args.file);
    })?;
    let (private, public) = (args.file.display().to_string(), public.to_string_lossy());
    let report = format!("{private}\n{public}\n{}\n", key.public_key());
    let lines = report.lines().map(|line| format!("{}\n", neutralise_line(line)));
    io::stdout().write_all(lines.collect::<String>().as_bytes()).map_err(Error::Output)?;
    Ok(exit::SUCCESS)
}

/// Writes a new file; if that fails, there is none.
fn create(path: &Path, contents: &str) -> Result<(), Error> {
    let failed = |error| Error::output(path, &error);
    let mut file = owner_only().write(true).create_new(true).open(path).map_err(failed)?;
    let written = file.write_all(contents.as_bytes()).and_then(|()| file.sync_all());
    written.map_err(failed).inspect_err(|_| {
        let _ = fs::remove_file(path);
    })
}

/// The private key in a file, which only its owner may read.
pub(crate) fn signing_key(path: &Path) -> Result<SigningKey, Error> {
    let key = read(path, SigningKey::from_pem)?;
    #[cfg(unix)]
    {
        let input = |error| Error::Input { path: path.to_owned(), error };
        let permissions = fs::metadata(path).map_err(input)?.permissions();
        let mode = std::os::unix::fs::PermissionsExt::mode(&permissions) & 0o777;
        if mode & 0o077 != 0 {
            return Err(input(io::Error::other(format!(
                "the private key in it is not private: its mode is {mode:04o}, which lets other users read or replace \
                 it; chmod 600 lets only its owner"
            ))));
        }
    }
    Ok(key)
}

/// The public key in a file.
pub(crate) fn public_key(path: &Path) -> Result<PublicKey, Error> {
    read(path, PublicKey::from_pem)
}

fn read<K>(path: &Path, parse: impl FnOnce(&str) -> Result<K, KeyError>) -> Result<K, Error> {
    let mut pem = String::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE).read_to_string(&mut pem))
        .and_then(|_| parse(&pem).map_err(io::Error::other))
        .map_err(|error| Error::Input { path: path.to_owned(), error })
}
