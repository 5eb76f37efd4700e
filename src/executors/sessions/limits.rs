//! How many sessions are open at once, and how much they hold back.

/// The maximum number of open sessions. A further session ends the one that was silent for longest.
pub const MAX_SESSIONS: usize = 64;

/// The maximum number of bytes that the open sessions hold back together, as [`StateSize`](super::StateSize) counts them: as many as one
/// session may hold back alone. Beyond that, the sessions that were silent for longest end.
pub const MAX_SESSIONS_SIZE: usize = 16 << 20;
