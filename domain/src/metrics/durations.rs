//! [`Durations`]: a histogram of durations.

use serde::{Deserialize, Serialize};

/// The upper bounds of the buckets in milliseconds: those of the conventions for `gen_ai.execute_tool.duration`.
const BOUNDS_MS: [u64; 14] =
    [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10_240, 20_480, 40_960, 81_920];

/// A histogram of durations, exact to the millisecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Durations {
    /// The number of durations in each bucket and no smaller one; the last has no upper bound.
    counts: [u64; BOUNDS_MS.len() + 1],
    sum_ms: u64,
}

impl Durations {
    /// The number of durations.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The sum of all durations in seconds.
    pub fn sum_seconds(&self) -> f64 {
        seconds(self.sum_ms)
    }

    /// The upper bound of each bucket in seconds, and the number of durations in it and no smaller one.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        let bounds = BOUNDS_MS.map(seconds).into_iter().chain([f64::INFINITY]);
        bounds.zip(self.counts)
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
        self.sum_ms = self.sum_ms.saturating_add(other.sum_ms);
    }

    pub(super) fn observe(&mut self, millis: u64) {
        let bucket = BOUNDS_MS.partition_point(|bound| *bound < millis);
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
        }
        self.sum_ms = self.sum_ms.saturating_add(millis);
    }
}

fn seconds(millis: u64) -> f64 {
    millis as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_includes_its_upper_end() {
        let mut durations = Durations::default();
        for millis in [0, 10, 11, 81_920, 81_921, u64::MAX] {
            durations.observe(millis);
        }
        let filled: Vec<_> = durations.buckets().filter(|bucket| bucket.1 > 0).collect();
        assert_eq!(filled, [(0.01, 2), (0.02, 1), (81.92, 1), (f64::INFINITY, 2)]);
        assert_eq!(durations.count(), 6);
    }
}
