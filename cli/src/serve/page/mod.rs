//! The pages, and parts of them.

mod explain;
mod frame;
mod list;
mod session;
mod window;

pub(super) use self::{
    explain::explain,
    frame::failure,
    list::{list, rows},
    session::session,
    window::{Wanted, feed, stretch},
};

/// The script of the pages.
pub(super) const SCRIPT: &str = include_str!("page.js");
