//! [`Flight`]: the sent, unacknowledged pieces of a log.

use std::collections::VecDeque;

use crate::place::Place;

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
