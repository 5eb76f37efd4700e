//! [`Expiry`]: when complete sources are forgotten.

use std::time::{Duration, Instant, SystemTime};

use foldline::ledger::SourceName;

use crate::ledger::KafkaLedger;

/// The interval at which a lane looks for expired sources.
const INTERVAL: Duration = Duration::from_secs(60);

/// The maximum number of sources that expire in a transaction.
const MOST: usize = 1_000;

/// When a lane looks for expired sources.
#[derive(Debug, Default)]
pub(super) struct Expiry {
    /// The next time; `None` if it is now.
    next: Option<Instant>,
}

impl Expiry {
    /// Whether it is time; `after` is how long complete sources are remembered.
    pub(super) fn is_due(&self, after: Option<Duration>) -> bool {
        after.is_some() && self.next.is_none_or(|next| next <= Instant::now())
    }

    /// The sources that are expired, if it is time.
    pub(super) fn expired(
        &mut self,
        after: Option<Duration>,
        ledger: &KafkaLedger,
    ) -> Vec<SourceName> {
        let Some(after) = after.filter(|_| self.is_due(after)) else { return Vec::new() };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let time = i64::try_from(now.saturating_sub(after).as_millis()).unwrap_or(i64::MAX);
        let expired = ledger.complete_before(time, MOST);
        if expired.len() < MOST {
            let interval = INTERVAL.min(after);
            self.next = Some(Instant::now() + interval);
        }
        expired
    }
}
