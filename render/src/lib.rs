//! Sessions of coding agents for people: emitters that print.
//!
//! - [`transcript`]: for a terminal.
//! - [`html`]: fragments for each entry, and the whole page.
//! - [`markdown`]: a session as a Markdown document.
//! - [`redact`]: secrets, home directories and addresses, replaced before another emitter sees them.
//!
//! They share [`human`], numbers as people read them, and [`terminal`], text that cannot control a terminal.
#![forbid(unsafe_code)]

pub mod html;
pub mod markdown;
pub mod redact;
pub mod text;
pub mod transcript;

pub use self::text::{human, printed, terminal};
