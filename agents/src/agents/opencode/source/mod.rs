//! [`OpencodeSource`]: the sessions that opencode keeps, read as lines.

mod database;
mod tree;

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

use foldline::{
    ledger::Identity,
    source::{Opener, StoredLog},
};

use self::tree::SessionTree;
use crate::sqlite;

/// Opens opencode's database, or a session in the folders of an older release. The content is a line for each session:
/// the document that `opencode export` prints.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpencodeSource;

impl Opener for OpencodeSource {
    fn open(&self, path: &Path, head: &[u8]) -> Option<Box<dyn StoredLog>> {
        if head.starts_with(sqlite::MAGIC) {
            let connection = sqlite::connect(path).ok()?;
            return database::has_sessions(&connection)
                .then(|| Box::new(SessionDatabase(path.to_owned())) as _);
        }
        let tree = head.starts_with(b"{").then(|| SessionTree::at(path))??;
        Some(Box::new(tree))
    }
}

/// A database at this path.
#[derive(Debug)]
struct SessionDatabase(PathBuf);

impl StoredLog for SessionDatabase {
    fn status(&self, file: Identity) -> io::Result<Identity> {
        Ok(sqlite::status(&self.0, file))
    }

    fn write(&self, _: &File, out: &mut dyn Write) -> io::Result<()> {
        let connection = sqlite::connect(&self.0).map_err(io::Error::other)?;
        database::write(&connection, out)
    }
}
