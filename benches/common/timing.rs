//! Times several ways of doing one thing in turns in one run, so that a ratio is valid on a machine whose speed
//! drifts.

use std::time::{Duration, Instant};

/// The median time of each way, over `rounds` rounds in which each is run once.
pub fn in_turns(rounds: usize, ways: &mut [&mut dyn FnMut()]) -> Vec<Duration> {
    let mut times = vec![Vec::with_capacity(rounds); ways.len()];
    for way in ways.iter_mut() {
        way();
    }
    for _ in 0..rounds {
        for (way, times) in ways.iter_mut().zip(&mut times) {
            let start = Instant::now();
            way();
            times.push(start.elapsed());
        }
    }
    times
        .into_iter()
        .map(|mut times| {
            times.sort_unstable();
            times[times.len() / 2]
        })
        .collect()
}

/// The ratio to `floor`.
pub fn ratio(time: Duration, floor: Duration) -> f64 {
    time.as_secs_f64() / floor.as_secs_f64()
}
