//! The checkpoint of a source, as it is stored.

use foldline::ledger::{Checkpoint, Extent, Identity, SourceFacts};
use foldline_domain::Digest;

use super::{Row, StoreError};

/// The columns of the table `sources` that a checkpoint is read from.
pub(crate) const COLUMNS: &str = "path, format, device, inode, size, modified_at, read_length, read_edges,
    line, \"offset\", state, complete, (SELECT task FROM sessions WHERE sessions.id = sources.session), changed_ns,
    read_sha256, first_line, host, user_name";

/// Reads these columns.
pub(crate) fn read(row: &dyn Row) -> Result<Checkpoint, StoreError> {
    let digest =
        |column| row.get::<Option<[u8; 32]>>(column).map(|digest| digest.map(Digest::from));
    let identity = Identity {
        device: row.count(2)?,
        inode: row.count(3)?,
        size: row.unsigned(4)?,
        modified: row.moment(5)?,
        read: Extent { length: row.unsigned(6)?, edges: row.get::<[u8; 32]>(7)?.into() },
        changed: row.get(13)?,
        content: digest(14)?,
        first_line: digest(15)?,
    };
    let facts = SourceFacts {
        path: row.get(0)?,
        format: row.get(1)?,
        task: row.get(12)?,
        host: row.get(16)?,
        user: row.get(17)?,
        identity,
    };
    Ok(Checkpoint {
        facts,
        position: row.position(8)?,
        state: row.state(10)?,
        complete: row.get(11)?,
    })
}
