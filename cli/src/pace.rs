//! [`Pace`]: reproduces the log's own pauses.

use std::{thread, time::Duration};

use foldline_domain::Timestamp;

/// The speed relative to the log; `None` does not wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Speed(pub(crate) Option<f64>);

pub(crate) fn parse_speed(text: &str) -> Result<Speed, String> {
    if text == "max" {
        return Ok(Speed(None));
    }
    let factor = text.strip_suffix('x').unwrap_or(text).parse::<f64>().ok();
    match factor.filter(|factor| factor.is_finite() && *factor > 0.0) {
        Some(factor) => Ok(Speed(Some(factor))),
        None => Err("give a factor such as 1x or 10x, or max".to_owned()),
    }
}

/// Waits as long as the log did, or a fraction of it.
#[derive(Debug)]
pub(crate) struct Pace {
    speed: Speed,
    last: Option<Timestamp>,
}

impl Pace {
    pub(crate) fn new(speed: Speed) -> Self {
        Self { speed, last: None }
    }

    /// How long to wait before an event with the time `at`.
    pub(crate) fn pause_before(&mut self, at: Option<Timestamp>) -> Option<Duration> {
        let factor = self.speed.0?;
        let at = at?;
        let last = self.last.replace(self.last.map_or(at, |last| last.max(at)))?;
        let millis = at.millis_since(last).filter(|millis| *millis > 0)?;
        Duration::try_from_secs_f64(millis as f64 / 1000.0 / factor).ok()
    }

    pub(crate) fn wait(pause: Duration) {
        thread::sleep(pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_those_of_the_log() {
        let at = |millis| Some(Timestamp::from_millis(millis));
        let mut pace = Pace::new(Speed(Some(10.0)));
        assert_eq!(pace.pause_before(at(1_000)), None);
        assert_eq!(pace.pause_before(at(3_000)), Some(Duration::from_millis(200)));
        assert_eq!(pace.pause_before(None), None);
        assert_eq!(pace.pause_before(at(2_000)), None);
        assert_eq!(pace.pause_before(at(4_000)), Some(Duration::from_millis(100)));
        assert_eq!(Pace::new(Speed(None)).pause_before(at(1)), None);
    }
}
