//! Limits on the number and the size of open sessions.

/// The maximum number of open sessions. A further session ends the least recently active one.
pub const MAX_SESSIONS: usize = 64;

/// The maximum number of bytes that all open sessions hold back, as counted by [`HeapSize`](foldline::processor::HeapSize). It
/// equals the limit of a single session. Beyond it, the least recently active sessions end.
pub const MAX_SESSIONS_SIZE: usize = 16 << 20;
