//! Sessions as HTML and as Markdown: what they look like, and that nothing in a log acts in them.
#![cfg(all(feature = "html", feature = "markdown"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "that is how a test fails")]

mod allowed;
mod browser;
mod golden;
mod history;
mod hostile;
mod markdown;
