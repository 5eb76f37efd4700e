//! [`Rendered`]: a part of a page as JSON, which readers share.

use axum::body::Bytes;
use tokio::{sync::Mutex, task::spawn_blocking};

/// A part of a page as JSON, with the number of changes that it contains. It is rendered once for all readers.
#[derive(Default)]
pub(super) struct Rendered(Mutex<Option<(u64, Bytes)>>);

impl Rendered {
    /// The last rendering if it is recent enough, or a new one from a blocking thread. `None` if rendering failed.
    pub(super) async fn get(
        &self,
        will_do: impl Fn(u64) -> bool,
        render: impl FnOnce() -> (u64, String) + Send + 'static,
    ) -> Option<(u64, Bytes)> {
        // Readers that arrive meanwhile also wait for it.
        let mut last = self.0.lock().await;
        if !last.as_ref().is_some_and(|(number, _)| will_do(*number)) {
            let (number, json) = spawn_blocking(render).await.ok()?;
            *last = Some((number, json.into()));
        }
        last.clone()
    }
}
