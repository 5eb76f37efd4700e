//! Law 3.

use foldline::transduce::Reducer;
use foldline_agents::wire::Record;
use foldline_domain::{DomainEvent, Located};

use super::{Law, Place, Violation};
use crate::{run, violation::caught};

/// Law 3, **chunk invariance**: a log read in chunks gives the same events, with the same positions, as the log read
/// at once, wherever it is split: within a line, a character, a line end.
///
/// `cuts` are offsets in the log, in any order; offsets beyond its end are treated as its end.
///
/// # Errors
/// The first event that differs.
pub fn chunk_invariance<R, S>(reducer: &R, log: &[u8], cuts: &[usize]) -> Result<(), Violation>
where
    R: for<'a> Reducer<Record<'a>, S, DomainEvent>,
{
    caught(Law::ChunkInvariance, Place::Unknown, || {
        let whole = run::sourced_events(reducer, [log]);
        let pieces = run::sourced_events(reducer, pieces(log, cuts));
        let differs = |index: &usize| whole.get(*index) != pieces.get(*index);
        let Some(index) = (0..whole.len().max(pieces.len())).find(differs) else { return Ok(()) };
        let of = |events: &[Located<DomainEvent>]| events.get(index).cloned();
        let violation =
            Violation::new(Law::ChunkInvariance, Place::Event(index), "the events differ");
        Err(violation.side("at once", &of(&whole)).side("in pieces", &of(&pieces)))
    })
}

fn pieces<'b>(log: &'b [u8], cuts: &[usize]) -> Vec<&'b [u8]> {
    let mut cuts = cuts.to_vec();
    cuts.sort_unstable();
    let mut rest = log;
    let mut done = 0;
    let mut pieces = Vec::with_capacity(cuts.len() + 1);
    for cut in cuts {
        let (piece, after) = rest.split_at((cut - done).min(rest.len()));
        done += piece.len();
        rest = after;
        pieces.push(piece);
        if rest.is_empty() {
            break;
        }
    }
    pieces.push(rest);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_may_come_in_any_order_and_beyond_the_end() {
        assert_eq!(pieces(b"abcdef", &[4, 1, 1, 99]), [&b"a"[..], b"", b"bcd", b"ef", b""]);
        assert_eq!(pieces(b"", &[3]), [&b""[..], b""]);
        assert_eq!(pieces(b"ab", &[]), [b"ab"]);
    }
}
