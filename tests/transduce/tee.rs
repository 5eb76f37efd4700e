//! A listener leaves the output of the main emitter as it is.

use std::convert::Infallible;

use foldline::transduce::*;

#[derive(Default)]
struct Listener {
    events: Vec<char>,
    finished: bool,
}

impl Emitter<char, Infallible> for Listener {
    fn emit(&mut self, event: &char) -> Batch<Infallible> {
        self.events.push(*event);
        Batch::EMPTY
    }
    fn finish(&mut self) -> Batch<Infallible> {
        self.finished = true;
        Batch::EMPTY
    }
}

struct Upper;

impl Emitter<char, char> for Upper {
    fn emit(&mut self, event: &char) -> Batch<char> {
        event.to_uppercase().collect()
    }
    fn finish(&mut self) -> Batch<char> {
        Batch::one('.')
    }
}

#[test]
fn the_listener_hears_all_and_changes_nothing() {
    let mut side = Listener::default();
    let mut tee = Tee { main: Upper, side: &mut side };
    assert_eq!(tee.emit(&'a'), Upper.emit(&'a'));
    assert_eq!(tee.emit(&'ß').as_slice(), ['S', 'S']);
    assert_eq!(tee.finish(), Upper.finish());
    assert_eq!(side.events, ['a', 'ß']);
    assert!(side.finished);
}
