//! The pages of `foldline serve` and `foldline run --serve` in a real browser, as a person would use them.
//!
//! Chromium is driven through `chromedriver`. No test waits for a fixed time, only for changes of the page.
#![allow(clippy::unwrap_used, clippy::panic)]

#[allow(dead_code, reason = "shared with the other test program")]
#[path = "../serve/agent.rs"]
mod agent;
#[allow(dead_code, reason = "shared with the other test program")]
#[path = "../serve/client.rs"]
mod client;
#[allow(dead_code, reason = "shared with the other test program")]
#[path = "../logs/mod.rs"]
mod logs;
#[path = "../serve/packages.rs"]
mod packages;

mod axe;
mod code;
mod driver;
mod find;
mod keys;
mod list;
mod live;
mod long;
mod phone;
mod pictures;
mod session;
mod tabs;
mod time;
mod usage;
