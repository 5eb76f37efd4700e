//! Key files, and `foldline audit-key`, which creates them.

use std::{
    fs::File,
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
    create(public.as_ref(), &key.public_key().to_pem())?;
    let (private, public) = (args.file.display().to_string(), public.to_string_lossy());
    let report = format!("{private}\n{public}\n{}\n", key.public_key());
    let lines = report.lines().map(|line| format!("{}\n", neutralise_line(line)));
    io::stdout().write_all(lines.collect::<String>().as_bytes()).map_err(Error::Output)?;
    Ok(exit::SUCCESS)
}

/// Writes a new file.
fn create(path: &Path, contents: &str) -> Result<(), Error> {
    owner_only()
        .write(true)
        .create_new(true)
        .open(path)
        .and_then(|mut file| file.write_all(contents.as_bytes()).and_then(|()| file.sync_all()))
        .map_err(|error| Error::output(path, &error))
}

/// The private key in a file.
pub(crate) fn signing_key(path: &Path) -> Result<SigningKey, Error> {
    read(path, SigningKey::from_pem)
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
