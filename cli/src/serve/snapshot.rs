//! [`Snapshots`]: documents as a whole, which readers share.

use std::sync::{Arc, Weak};

use axum::body::Bytes;
use tokio::{sync::Mutex, task::spawn_blocking};

/// A document after this many changes, as JSON.
pub(super) struct Snapshot {
    pub(super) number: u64,
    pub(super) json: String,
}

/// The last snapshot, as long as somebody still sends it: many readers that are too slow cost no more than one.
#[derive(Default)]
pub(super) struct Snapshots(Mutex<Weak<Snapshot>>);

impl Snapshots {
    /// The last snapshot if it will do, or a new one, which is made on a thread for that. `None` if that failed.
    pub(super) async fn get(
        &self,
        will_do: impl Fn(u64) -> bool,
        make: impl FnOnce() -> Snapshot + Send + 'static,
    ) -> Option<Arc<Snapshot>> {
        // Who comes meanwhile waits for it, too.
        let mut last = self.0.lock().await;
        if let Some(snapshot) = last.upgrade().filter(|snapshot| will_do(snapshot.number)) {
            return Some(snapshot);
        }
        let snapshot = Arc::new(spawn_blocking(make).await.ok()?);
        *last = Arc::downgrade(&snapshot);
        Some(snapshot)
    }
}

/// The bytes of a snapshot, without a copy.
pub(super) fn bytes(snapshot: Arc<Snapshot>) -> Bytes {
    struct Shared(Arc<Snapshot>);
    impl AsRef<[u8]> for Shared {
        fn as_ref(&self) -> &[u8] {
            self.0.json.as_bytes()
        }
    }
    Bytes::from_owner(Shared(snapshot))
}
