//! [`Identity`] and [`Extent`]: recognising a file again.

use std::io::{self, Read, Seek, SeekFrom};

use serde::{Deserialize, Serialize};

use crate::position::Digest;
use crate::position::Timestamp;

/// The minimum length at which a copy is recognised by its content alone.
pub(crate) const CERTAIN: u64 = 1024;

/// The identity of a file at the time when it was read. The file is recognised after it has grown or was moved, and
/// is not confused with a file that replaced it.
///
/// Device and inode identify the file; [`read`](Self::read) and [`content`](Self::content) identify the data that was
/// read. A copy shares only the latter, a file that was rewritten in place only the former.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The device of the file; `None` on a system without device numbers.
    pub device: Option<u64>,
    /// The inode; `None` on a system without inodes.
    pub inode: Option<u64>,
    /// Its length in bytes.
    pub size: u64,
    /// The modification time; `None` if the system does not provide it.
    pub modified: Option<Timestamp>,
    /// The time of the last change of the file or its metadata (`st_ctime`), in nanoseconds since 1970. `None` if the
    /// system does not provide it, or if it is so recent that a further change could have the same time.
    pub changed: Option<i64>,
    /// The part of it that was read.
    pub read: Extent,
    /// The SHA-256 digest of all bytes of that part; `None` if it was not computed.
    pub content: Option<Digest>,
    /// The SHA-256 digest of the first line without its line end, or of the first [`EDGE`](Extent::EDGE) bytes of a
    /// longer line. It stays the same while a log grows, and therefore finds logs that may share a beginning. `None`
    /// if it was not computed.
    pub first_line: Option<Digest>,
}

impl Identity {
    /// Whether both are the same file, under any name. Unknown inodes are not equal to any other.
    pub fn is_same_file(&self, other: &Self) -> bool {
        self.inode.is_some() && (self.device, self.inode) == (other.device, other.inode)
    }

    /// Whether this is the same file, and the system recorded no change of it since. Then it need not be read again.
    /// Not detected: a change while the clock stood still or was set back.
    pub fn is_untouched_since(&self, other: &Self) -> bool {
        self.is_same_file(other)
            && self.size == other.size
            && self.changed.is_some()
            && self.changed == other.changed
    }

    /// Whether the same data was read from both, according to the fields that both have.
    pub fn is_alike(&self, other: &Self) -> bool {
        let differs = |(one, other)| one != other;
        self.read == other.read && !self.content.zip(other.content).is_some_and(differs)
    }

    /// Whether this file is a copy of the other one, rather than an earlier log with the same beginning: an earlier log
    /// was last modified before the other one. Many logs share a short beginning, of less than 1 KiB.
    pub fn is_copy_of(&self, other: &Self) -> bool {
        let times = self.modified.zip(other.modified);
        let is_later = times.is_some_and(|(this, other)| this >= other);
        let length = other.read.length;
        self.is_alike(other) && (length >= CERTAIN || (length > 0 && is_later))
    }
}

/// The beginning of a file up to some length, as a digest that needs only two short reads regardless of the length.
/// Files that differ only in the middle have the same extent: to distinguish them, use [`Identity::content`].
///
/// The default matches no file.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Extent {
    /// The length in bytes.
    pub length: u64,
    /// The digest of the first and the last bytes, [`EDGE`](Self::EDGE) of each. They overlap, or are identical, if
    /// the length is short.
    pub edges: Digest,
}

impl Extent {
    /// The number of bytes of each end that are digested.
    pub const EDGE: usize = 4096;

    /// The extent of a whole text in memory.
    pub fn of(bytes: &[u8]) -> Self {
        let edge = bytes.len().min(Self::EDGE);
        Self::of_edges(bytes.len() as u64, &bytes[..edge], &bytes[bytes.len() - edge..])
    }

    /// The extent of the first `length` bytes of a file; `None` if it is shorter. Moves the file's
    /// position.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(file: &mut (impl Read + Seek), length: u64) -> io::Result<Option<Self>> {
        let edge = length.min(Self::EDGE as u64);
        let mut edges = Vec::with_capacity(2 * Self::EDGE);
        for start in [0, length - edge] {
            file.seek(SeekFrom::Start(start))?;
            if Read::by_ref(file).take(edge).read_to_end(&mut edges)? as u64 != edge {
                return Ok(None);
            }
        }
        Ok(Some(Self { length, edges: Digest::of(&edges) }))
    }

    /// The extent of `length` bytes that begin with `head` and end with `tail`.
    pub(crate) fn of_edges(length: u64, head: &[u8], tail: &[u8]) -> Self {
        Self { length, edges: Digest::of(&[head, tail].concat()) }
    }
}
