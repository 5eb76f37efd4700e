//! [`Counts`]: how many sessions each choice of the list has.

/// The numbers of sessions with each status.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    /// Those that the other choices select.
    pub(super) all: u64,
    /// Those without any choice.
    pub(super) total: u64,
    pub(super) running: u64,
    pub(super) waiting: u64,
    pub(super) failed: u64,
}

impl Counts {
    /// The number for a status of the list; `None` for one that is not counted.
    pub(super) fn of(self, status: &str) -> Option<u64> {
        match status {
            "" => Some(self.all),
            "running" => Some(self.running),
            "waiting" => Some(self.waiting),
            "failed" => Some(self.failed),
            _ => None,
        }
    }
}
