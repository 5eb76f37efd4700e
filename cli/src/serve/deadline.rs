//! [`Deadline`]: how long an answer may take.

use std::{
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

/// The time for an answer, which ends early when its client has gone.
#[derive(Clone, Debug)]
pub(super) struct Deadline {
    end: Instant,
    /// Dropped with the request.
    client: Weak<()>,
}

impl Deadline {
    /// This much time, as long as the request holds `client`.
    pub(super) fn new(longest: Duration, client: &Arc<()>) -> Self {
        Self { end: Instant::now() + longest, client: Arc::downgrade(client) }
    }

    /// Whether no answer is wanted any more.
    pub(super) fn is_over(&self) -> bool {
        self.client.strong_count() == 0 || self.rest().is_zero()
    }

    /// The time that is left.
    pub(super) fn rest(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_with_its_time_and_with_its_client() {
        let client = Arc::new(());
        let patience = Deadline::new(Duration::from_secs(600), &client);
        assert!(!patience.is_over());
        assert!(Deadline::new(Duration::ZERO, &client).is_over());
        drop(client);
        assert!(patience.is_over());
    }
}
