//! By what a file is recognised again.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    time::UNIX_EPOCH,
};

use sha2::{Digest, Sha256};

use crate::checkpoint::number;
use foldline::{conversation::Timestamp, ledger::Identity};

/// How much of the beginning, and of the end, is looked at.
const LOOK: u64 = 4096;

/// The identity of a file that is committed up to `offset`.
pub(super) fn identity(file: &mut File, offset: u64) -> io::Result<Identity> {
    let metadata = file.metadata()?;
    let (device, inode) = number(&metadata);
    let modified = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let modified = modified.and_then(|since| i64::try_from(since.as_millis()).ok());
    Ok(Identity {
        device,
        inode,
        size: metadata.len(),
        modified: modified.map(Timestamp::from_millis),
        fingerprint: fingerprint(file, offset)?,
    })
}

/// A digest of the beginning and the end of the first `length` bytes: it stays the same while the
/// file grows, and is another one where the file was replaced or written anew.
pub(super) fn fingerprint(file: &mut File, length: u64) -> io::Result<Vec<u8>> {
    let mut digest = Sha256::new();
    digest.update(length.to_le_bytes());
    for start in [0, length.saturating_sub(LOOK)] {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        file.by_ref().take(LOOK.min(length)).read_to_end(&mut bytes)?;
        digest.update(&bytes);
    }
    Ok(digest.finalize().to_vec())
}
