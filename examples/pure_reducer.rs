//! A reducer without its shell: explicit state and events, no I/O, no set-up.
//!
//! A turnstile is locked until it gets a coin, and lets one person through for each coin.
//!
//! ```sh
//! cargo run --example pure_reducer
//! ```

use foldline::transduce::{Batch, Keyed, Reducer};

#[derive(Clone, Copy)]
enum Input {
    Coin,
    Push,
}

#[derive(Debug, PartialEq)]
enum Event {
    Unlocked,
    Passed,
    /// Invalid input is also an event: a reducer neither panics nor ignores it.
    Bumped {
        times: u32,
    },
}

#[derive(Debug, Default, PartialEq)]
struct State {
    coins: u32,
    bumps: u32,
}

/// Configuration would be here; everything remembered between steps is in the state.
struct Turnstile;

/// A station has several turnstiles: each has a separate state, selected by the number of the input.
struct Numbered;

impl Reducer<(u8, Input), State, Event> for Numbered {
    fn init(&self) -> State {
        Turnstile.init()
    }

    fn reduce(&self, state: State, (_, input): (u8, Input)) -> (State, Batch<Event>) {
        Turnstile.reduce(state, input)
    }
}

impl Reducer<Input, State, Event> for Turnstile {
    fn init(&self) -> State {
        State::default()
    }

    fn reduce(&self, mut state: State, input: Input) -> (State, Batch<Event>) {
        let event = match input {
            Input::Coin => {
                state.coins += 1;
                (state.coins == 1).then_some(Event::Unlocked)
            }
            Input::Push if state.coins > 0 => {
                state.coins -= 1;
                Some(Event::Passed)
            }
            Input::Push => {
                state.bumps += 1;
                Some(Event::Bumped { times: state.bumps })
            }
        };
        (state, event.into())
    }
}

fn main() {
    let state = Turnstile.init();

    let (state, events) = Turnstile.reduce(state, Input::Push);
    assert_eq!(events.as_slice(), [Event::Bumped { times: 1 }]);

    let (state, events) = Turnstile.reduce(state, Input::Coin);
    assert_eq!(events.as_slice(), [Event::Unlocked]);

    let (state, events) = Turnstile.reduce(state, Input::Coin);
    assert!(events.is_empty());
    assert_eq!(state, State { coins: 2, bumps: 1 });

    // The old state has moved: it cannot be reused by mistake.
    let (state, events) = Turnstile.reduce(state, Input::Push);
    assert_eq!(events.as_slice(), [Event::Passed]);
    assert_eq!(state, State { coins: 1, bumps: 1 });

    let station = Keyed::new(Numbered, |(number, _): &(u8, Input)| *number);
    let (turnstiles, _) = station.reduce(station.init(), (1, Input::Coin));
    let (turnstiles, events) = station.reduce(turnstiles, (2, Input::Push));
    assert_eq!(events.as_slice(), [(2, Event::Bumped { times: 1 })]);
    assert_eq!(turnstiles[&1], State { coins: 1, bumps: 0 });

    println!("one person passed; {} coin is left", state.coins);
}
