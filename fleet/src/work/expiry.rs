//! [`Expiry`]: when complete sources are forgotten.

use std::{
    mem,
    time::{Duration, Instant, SystemTime},
};

use foldline::ledger::{Ledger, Mark, SourceName};

use crate::{error::Error, ledger::KafkaLedger, marks::mark};

/// The interval at which a lane looks for expired sources.
const INTERVAL: Duration = Duration::from_secs(60);

/// The maximum number of sources that expire in a transaction.
const MOST: usize = 1_000;

/// When a lane looks for expired sources.
#[derive(Debug, Default)]
pub(super) struct Expiry {
    /// The next time; `None` if it is now.
    next: Option<Instant>,
    /// When the last of the expired sources was complete, in milliseconds since 1970; `None` if none has expired.
    until: Option<i64>,
    is_changed: bool,
}

/// The name of the mark with [`Expiry::until`].
const EXPIRED: &str = "expired";

impl Expiry {
    /// Reads the mark of a ledger.
    pub(super) fn read(ledger: &mut KafkaLedger) -> Result<Self, Error> {
        let mark = ledger.mark(EXPIRED)?;
        Ok(Self { until: mark.and_then(|mark| mark.get().parse().ok()), ..Self::default() })
    }

    /// Whether a source whose file was created at this time may have expired.
    pub(super) fn may_have_expired(&self, created: i64) -> bool {
        self.until.is_some_and(|until| created <= until)
    }

    /// The mark to be committed, if it has changed.
    pub(super) fn mark(&mut self) -> Result<Option<Mark>, Error> {
        mem::take(&mut self.is_changed).then(|| mark(EXPIRED, &self.until)).transpose()
    }

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
        self.is_changed |= !expired.is_empty();
        self.until = expired.iter().map(|(_, at)| *at).max().max(self.until);
        expired.into_iter().map(|(source, _)| source).collect()
    }
}
