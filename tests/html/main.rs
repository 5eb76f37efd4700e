//! Pages and fragments of HTML: what they look like, and that nothing in a log acts in them.
#![cfg(feature = "html")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "that is how a test fails")]

mod allowed;
mod browser;
mod golden;
mod hostile;
