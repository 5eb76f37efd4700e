//! [`Flight`]: the sent, unacknowledged pieces of a log; [`Opening`]: those that are not sent yet.

use std::collections::VecDeque;

use crate::piece::Place;

/// The unacknowledged pieces of one log, in order.
#[derive(Debug, Default)]
pub(super) struct Flight {
    /// The number of the first of these pieces; the first piece of a run is number 0.
    first: u64,
    /// The end of each piece, and whether it was acknowledged before earlier pieces.
    ends: VecDeque<(Place, bool)>,
    /// The end of the last piece up to which everything was acknowledged.
    acknowledged: Option<Place>,
}

impl Flight {
    /// The number of the next piece.
    pub(super) fn next(&self) -> u64 {
        self.first + self.ends.len() as u64
    }

    /// Records a sent piece that ends at `end`.
    pub(super) fn sent(&mut self, end: Place) {
        self.ends.push_back((end, false));
    }

    /// Records the acknowledgement of the piece with this number.
    pub(super) fn acknowledge(&mut self, number: u64) {
        let at = number.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        if let Some((_, is_acknowledged)) = at.and_then(|at| self.ends.get_mut(at)) {
            *is_acknowledged = true;
        }
        while let Some(&(end, true)) = self.ends.front() {
            self.ends.pop_front();
            self.first += 1;
            self.acknowledged = Some(end);
        }
    }

    /// Whether everything that was sent was acknowledged.
    pub(super) fn is_over(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether everything that was sent before this place was acknowledged.
    pub(super) fn is_past(&self, place: Place) -> bool {
        self.is_over() || self.acknowledged.is_some_and(|acknowledged| acknowledged >= place)
    }
}

/// Nothing of a file is sent before the checkpoint names the file, by its number and its beginning. A restarted shipper
/// therefore gives the same number to the same file, even if the log was copied and truncated several times in the
/// meantime. Under another number, workers would take its bytes for known ones, and drop them.
#[derive(Debug, Default)]
pub(super) struct Opening {
    /// The number of the last file that the checkpoint names.
    named: Option<u64>,
    /// The first bytes of the next one, which are not sent yet.
    held: Vec<u8>,
}

impl Opening {
    /// The beginning of a log whose checkpoint names this file.
    pub(super) fn named(file: u64) -> Self {
        Self { named: Some(file), held: Vec::new() }
    }

    /// Whether this file may be sent.
    pub(super) fn is_named(&self, file: u64) -> bool {
        self.named == Some(file)
    }

    /// Whether bytes are held.
    pub(super) fn is_held(&self) -> bool {
        !self.held.is_empty()
    }

    /// Holds the first bytes of a file.
    pub(super) fn hold(&mut self, bytes: &[u8]) {
        self.held = bytes.to_vec();
    }

    /// Records that the stored checkpoint names this file.
    pub(super) fn name(&mut self, file: u64) {
        self.named = Some(file);
    }

    /// The held bytes of this file, once it may be sent.
    pub(super) fn take(&mut self, file: u64) -> Option<Vec<u8>> {
        (self.is_held() && self.is_named(file)).then(|| std::mem::take(&mut self.held))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_passed_when_all_before_it_is_acknowledged() {
        let place = |offset| Place { file: 0, offset };
        let mut flight = Flight::default();
        for offset in [3, 5, 9] {
            flight.sent(place(offset));
        }
        assert_eq!(flight.next(), 3);
        flight.acknowledge(1);
        assert!(!flight.is_past(place(3)));
        flight.acknowledge(0);
        assert!(flight.is_past(place(5)) && !flight.is_past(place(9)) && !flight.is_over());
        flight.acknowledge(2);
        assert!(flight.is_over());
        assert_eq!(flight.next(), 3);
    }
}
