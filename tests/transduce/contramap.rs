//! An emitter of another type of events.

use foldline::transduce::*;

struct Last(u32);

impl Emitter<u32, u32> for Last {
    fn emit(&mut self, n: &u32) -> Batch<u32> {
        self.0 = *n;
        Batch::EMPTY
    }
    fn finish(&mut self) -> Batch<u32> {
        Batch::one(self.0)
    }
}

#[test]
fn a_key_is_left_out_and_the_end_passes_through() {
    let mut last = contramap(Last(0), |(_, n): &(String, u32)| n);
    assert!(last.emit(&("key".into(), 7)).is_empty());
    assert_eq!(last.finish().as_slice(), [7]);
}

#[test]
fn what_an_emitter_gives_at_the_end_is_converted_too() {
    let mut last = map(Last(0), |n: u32| n.to_string());
    assert!(last.emit(&7).is_empty());
    assert_eq!(last.finish().as_slice(), ["7"]);
}
