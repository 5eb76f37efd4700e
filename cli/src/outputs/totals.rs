//! [`SavedTotals`]: the tokens and costs of the whole database that an output of OpenTelemetry has stated.

use foldline_otlp::UsageTotals;
use serde::{Deserialize, Serialize};

use crate::sink::TotalsPoints;

/// The totals of the last points of an output, which are stored with it.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct SavedTotals {
    /// The number of commits of the database that they count.
    commits: u64,
    totals: UsageTotals,
}

impl SavedTotals {
    /// The totals, if later commits have changed them.
    pub(super) fn outdated(&self, commits: u64) -> Option<&UsageTotals> {
        (self.commits != commits).then_some(&self.totals)
    }

    /// Replaces the totals. Returns the lines of their points.
    pub(super) fn replace(&mut self, commits: u64, points: TotalsPoints) -> Vec<u8> {
        let TotalsPoints { totals, lines } = points;
        *self = Self { commits, totals };
        lines
    }
}
