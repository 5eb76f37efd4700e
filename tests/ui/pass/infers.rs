//! No call site names a type: a single `impl` each is sufficient for inference.

use std::convert::Infallible;

use foldline::transduce::{
    Batch, Both, Emitter, Keyed, KeyedEmitter, Reducer, Tee, Transducer, contramap, emit_fn, filter,
    map, reduce_fn,
};

struct Event {
    text: String,
}

/// Input that borrows.
struct Echo;

impl<'a> Reducer<&'a str, u32, Event> for Echo {
    fn init(&self) -> u32 {
        0
    }
    fn reduce(&self, seen: u32, line: &'a str) -> (u32, Batch<Event>) {
        (seen + 1, Event { text: line.into() }.into())
    }
}

struct Length;

impl Emitter<Event, usize> for Length {
    fn emit(&mut self, event: &Event) -> Batch<usize> {
        event.text.len().into()
    }
}

struct Words;

impl Emitter<str, usize> for Words {
    fn emit(&mut self, text: &str) -> Batch<usize> {
        Batch::one(text.split(' ').count())
    }
}

fn main() {
    // One emitter.
    let mut shell = Transducer::new(Echo, Length);
    assert_eq!(shell.step("one").as_slice(), [3]);
    shell.step_with("one", |length| assert_eq!(length, 3));
    let (seen, Length, rest) = shell.finish();
    assert_eq!((seen, rest.len()), (2, 0));

    // Several emitters, with a reused buffer.
    let sinks = (
        Length,
        filter(Length, |event| event.text.len() > 3),
        contramap(Words, |event: &Event| event.text.as_str()),
        emit_fn(|event: &Event| Batch::one(event.text.clone())),
        Some(Length),
    );
    let mut shell = Transducer::new(Echo, sinks);
    let mut buffer = String::new();
    for line in ["a b", "c d e"] {
        buffer.clear();
        buffer.push_str(line);
        shell.step_with(buffer.as_str(), |(length, long, words, text, _)| {
            assert_eq!(length.as_slice(), [line.len()]);
            assert_eq!(long.is_empty(), line.len() <= 3);
            assert_eq!(words.as_slice(), [line.split(' ').count()]);
            assert_eq!(text.as_slice(), [line]);
        });
    }

    // A listener next to an emitter; a set chosen at run time.
    let mut heard = 0;
    let listener = emit_fn(|_: &Event| -> Batch<Infallible> {
        heard += 1;
        Batch::EMPTY
    });
    let outputs = Transducer::new(Echo, Tee { main: Length, side: listener }).over(["a", "bc"]);
    assert!(outputs.eq([1, 2]));
    assert_eq!(heard, 2);
    let set: Vec<Box<dyn Emitter<Event, usize>>> = vec![Box::new(Length), Box::new(Length)];
    assert_eq!(Transducer::new(Echo, set).step("abc").as_slice(), [3, 3]);

    // Other outputs, and an emitter for each key.
    let mut shell = Transducer::new(Echo, map(Length, |length| length as f64 / 2.0));
    assert_eq!(shell.step("abc").as_slice(), [1.5]);
    let by_first = KeyedEmitter::new(|event: &Event| event.text.chars().next(), |_| Length);
    let mut shell = Transducer::new(Echo, map(by_first, |(key, length)| (length, key)));
    assert_eq!(shell.step("abc").as_slice(), [(3, Some('a'))]);
    let by_first = shell.emitter_mut().get_mut();
    let last = by_first.close(&Some('a')).unwrap();
    assert!(last.is_empty());

    // Combinators, closures and trait objects as reducers.
    let shout = reduce_fn(|| (), |(), event: Event| ((), Batch::one(event.text.to_uppercase())));
    let mut shell = Transducer::new(Echo.then(shout), emit_fn(|s: &String| Batch::one(s.len())));
    assert_eq!(shell.step("abc").as_slice(), [3]);

    let mut shell = Transducer::new(Both { first: Echo, second: Echo }, Length);
    assert_eq!(shell.step("abc").as_slice(), [3, 3]);

    let keyed = Keyed::new(Echo, |line: &&str| line.len());
    let mut shell = Transducer::new(keyed, contramap(Length, |(_, event)| event));
    for n in [1, 10, 100] {
        let line = n.to_string();
        assert_eq!(shell.step(line.as_str()).as_slice(), [line.len()]);
    }

    let object: &dyn for<'a> Reducer<&'a str, u32, Event> = &Echo;
    let mut shell = Transducer::new(object, Length);
    for n in [1, 10, 100] {
        let line = n.to_string();
        assert_eq!(shell.step(line.as_str()).as_slice(), [line.len()]);
    }
}
