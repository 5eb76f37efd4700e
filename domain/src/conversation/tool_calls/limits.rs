//! [`Limits`].

/// The limits of open calls and held results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Calls open at once.
    pub open_calls: usize,
    /// Bytes of calls open at once, with one KiB of overhead each.
    pub open_bytes: usize,
    /// Results that await their call.
    pub held_results: usize,
    /// Bytes of results that await their call.
    pub held_bytes: usize,
    /// Ended calls whose ids are remembered, to distinguish a duplicate from an unknown id.
    pub ended_calls: usize,
}

impl Limits {
    /// The limits used by the executors of this crate.
    pub const DEFAULT: Self = Self {
        open_calls: 1 << 13,
        open_bytes: 8 << 20,
        held_results: 1 << 12,
        held_bytes: 8 << 20,
        ended_calls: 1 << 10,
    };

    /// Sets the maximum number of open calls.
    #[must_use]
    pub const fn with_open_calls(mut self, open_calls: usize) -> Self {
        self.open_calls = open_calls;
        self
    }

    /// Sets the maximum number of bytes of open calls.
    #[must_use]
    pub const fn with_open_bytes(mut self, open_bytes: usize) -> Self {
        self.open_bytes = open_bytes;
        self
    }

    /// Sets the maximum number of results that await their call.
    #[must_use]
    pub const fn with_held_results(mut self, held_results: usize) -> Self {
        self.held_results = held_results;
        self
    }

    /// Sets the maximum number of bytes of results that await their call.
    #[must_use]
    pub const fn with_held_bytes(mut self, held_bytes: usize) -> Self {
        self.held_bytes = held_bytes;
        self
    }

    /// Sets the number of ended calls that are remembered.
    #[must_use]
    pub const fn with_ended_calls(mut self, ended_calls: usize) -> Self {
        self.ended_calls = ended_calls;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
