//! [`Identity`] and [`Extent`]: how a file is recognised again.

use std::io::{self, Read, Seek, SeekFrom};

use serde::{Deserialize, Serialize};

use crate::conversation::{Digest, Timestamp};

/// Describes a file at the time it was read, so that it is recognised after it has grown or was moved, and
/// not confused with a file that replaced it.
///
/// Device and inode number identify the file; [`read`](Self::read) identifies the content that was read. A
/// copy shares only the second, a file that was rewritten in place only the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Identity {
    /// The device that the file is on; `None` where the system has no such number.
    pub device: Option<u64>,
    /// The file's number on the device; `None` where the system has no such number.
    pub inode: Option<u64>,
    /// Its length in bytes.
    pub size: u64,
    /// When it was last written; `None` where the system does not say.
    pub modified: Option<Timestamp>,
    /// The part of it that was read.
    pub read: Extent,
}

impl Identity {
    /// Whether both are the same file, under any name. Unknown numbers are equal to no others.
    pub fn is_same_file(&self, other: &Self) -> bool {
        self.inode.is_some() && (self.device, self.inode) == (other.device, other.inode)
    }
}

/// The beginning of a file up to some length, as a digest that needs two short reads however long it is.
///
/// The default matches no file.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Extent {
    /// The length in bytes.
    pub length: u64,
    /// The digest of the first and the last bytes, [`EDGE`](Self::EDGE) of each. They overlap, or are the
    /// same, where the length is short.
    pub edges: Digest,
}

impl Extent {
    /// How many bytes of either end are digested.
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
        let mut edges = Vec::new();
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

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn an_extent_is_the_same_in_memory_and_in_a_file() {
        let bytes: Vec<u8> = (0..10_000_u32).map(|n| (n % 251) as u8).collect();
        for length in [0, 1, Extent::EDGE - 1, Extent::EDGE, 2 * Extent::EDGE + 1, bytes.len()] {
            let read = Extent::read(&mut Cursor::new(&bytes), length as u64).unwrap();
            assert_eq!(read, Some(Extent::of(&bytes[..length])), "{length}");
        }
        let longer = bytes.len() as u64 + 1;
        assert_eq!(Extent::read(&mut Cursor::new(&bytes), longer).unwrap(), None);
        assert_ne!(Extent::of(b""), Extent::default());
    }

    #[test]
    fn a_file_without_a_number_is_the_same_as_none() {
        assert!(!Identity::default().is_same_file(&Identity::default()));
        let numbered = Identity { device: Some(1), inode: Some(2), ..Identity::default() };
        assert!(numbered.is_same_file(&Identity { size: 7, ..numbered }));
    }
}
