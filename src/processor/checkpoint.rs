//! [`Checkpoint`]: everything that is needed to go on with a log later, as one value.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::Snapshot;
use crate::{
    conversation::Digest,
    ledger::{Extent, Identity},
};

/// From where to go on with a log, and with what was made of it: `S` is the reducer's state, `E` what
/// the emitters remember.
///
/// It is stored with a version and a digest, so that one that was cut, changed, or written by another
/// version is refused. It does no I/O: whoever stores it should replace the old one at once (write
/// another file, then rename it).
///
/// ```
/// use foldline::processor::{Checkpoint, NotACheckpoint, Snapshot};
///
/// let snapshot = Snapshot { state: "anything", ..Snapshot::default() };
/// let checkpoint = Checkpoint { processor: snapshot, emitter: (), ..Checkpoint::default() };
/// let stored = checkpoint.to_bytes()?;
/// let read: Checkpoint<String, ()> = Checkpoint::from_bytes(&stored)?;
/// assert_eq!(read.processor.state, "anything");
///
/// let cut = Checkpoint::<String, ()>::from_bytes(&stored[..stored.len() - 2]);
/// assert!(matches!(cut, Err(NotACheckpoint::Damaged(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint<S, E> {
    /// The log that was read.
    pub source: Identity,
    /// The name of the executor's format.
    pub format: String,
    /// Where in the log, and the reducer's state there.
    pub processor: Snapshot<S>,
    /// What the emitters remember.
    pub emitter: E,
    /// What was written until then.
    pub output: Extent,
}

/// What is stored round a checkpoint. `body` is digested as it stands.
#[derive(Deserialize)]
struct Envelope<B> {
    sha256: Digest,
    body: B,
}

/// Only what tells the version.
#[derive(Deserialize)]
struct Versioned {
    foldline_checkpoint: u32,
}

/// Changes when a stored checkpoint would no longer mean the same.
const VERSION: u32 = 1;

/// Why bytes are no checkpoint to go on from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotACheckpoint {
    /// It was written by another version.
    #[error("it has version {0}, and this program reads version {VERSION}")]
    Version(u32),
    /// It was cut or changed, or never was one.
    #[error("it is damaged: {0}")]
    Damaged(String),
}

impl<S: Serialize, E: Serialize> Checkpoint<S, E> {
    /// The checkpoint as it is stored: a line of JSON.
    ///
    /// # Errors
    /// The state or what the emitters remember refuses to be serialised; the types of this crate never
    /// do.
    pub fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        // A state may be large: it is written once, and its digest before it then.
        let head = |sha256: Digest| {
            format!("{{\"foldline_checkpoint\":{VERSION},\"sha256\":\"{sha256}\",\"body\":")
        };
        let mut bytes = head(Digest::of(b"")).into_bytes();
        let begin = bytes.len();
        serde_json::to_writer(&mut bytes, self)?;
        let head = head(Digest::of(&bytes[begin..]));
        bytes[..begin].copy_from_slice(head.as_bytes());
        bytes.extend_from_slice(b"}\n");
        Ok(bytes)
    }
}

impl<S: DeserializeOwned, E: DeserializeOwned> Checkpoint<S, E> {
    /// Reads what was stored.
    ///
    /// # Errors
    /// It is damaged, or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NotACheckpoint> {
        let damaged = |error: serde_json::Error| NotACheckpoint::Damaged(error.to_string());
        let Versioned { foldline_checkpoint: version } =
            serde_json::from_slice(bytes).map_err(damaged)?;
        if version != VERSION {
            return Err(NotACheckpoint::Version(version));
        }
        let envelope: Envelope<&RawValue> = serde_json::from_slice(bytes).map_err(damaged)?;
        let body = envelope.body.get();
        if Digest::of(body.as_bytes()) != envelope.sha256 {
            return Err(NotACheckpoint::Damaged("its digest is another".to_owned()));
        }
        serde_json::from_str(body).map_err(damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_done_to_it_is_noticed() {
        let processor = Snapshot { state: vec!["a\n".to_owned()], ..Snapshot::default() };
        let checkpoint = Checkpoint { processor, emitter: 7, ..Checkpoint::default() };
        let stored = checkpoint.to_bytes().unwrap();
        type Read = Checkpoint<Vec<String>, u8>;
        assert_eq!(Read::from_bytes(&stored), Ok(checkpoint));
        for cut in 0..stored.len() - 1 {
            assert!(Read::from_bytes(&stored[..cut]).is_err(), "cut at {cut}");
        }
        for at in 0..stored.len() - 1 {
            for bit in 0..8 {
                let mut changed = stored.clone();
                changed[at] ^= 1 << bit;
                assert!(Read::from_bytes(&changed).is_err(), "bit {bit} of byte {at}");
            }
        }
        let text = String::from_utf8(stored).unwrap();
        let newer = text.replacen(":1,", ":2,", 1);
        assert_eq!(Read::from_bytes(newer.as_bytes()), Err(NotACheckpoint::Version(2)));
    }
}
