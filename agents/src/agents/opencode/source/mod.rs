//! [`OpencodeSource`]: the sessions that opencode keeps, read as lines.

mod database;
mod tree;

use std::path::Path;

use foldline::source::{Opener, StoredLog};

use self::tree::SessionTree;
use crate::sqlite;

/// Opens opencode's database, or a session in the folders of an older release. The content is a line for each session:
/// the document that `opencode export` prints.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpencodeSource;

impl Opener for OpencodeSource {
    fn open(&self, path: &Path, head: &[u8]) -> Option<Box<dyn StoredLog>> {
        if head.starts_with(sqlite::MAGIC) {
            let is_one = |connection: &_| database::Tables::of(connection).is_some();
            return sqlite::open(path, head, is_one, database::write);
        }
        let tree = head.starts_with(b"{").then(|| SessionTree::at(path))??;
        Some(Box::new(tree))
    }
}
