//! A session as HTML: a [`Fragment`] for each entry, and the whole [`Page`].
//!
//! [`HtmlEmitter`] renders one entry as one `<article>`. A live page puts fragments in as they come; [`Page`]
//! collects them and gives one file that needs nothing else: no script, no other file, no network. Its policy
//! (`Content-Security-Policy`) allows the one style sheet, by its hash, and nothing more.
//!
//! Everything of a log is text. It is escaped, and what acts in a terminal or turns the direction of writing is
//! made visible, as [`terminal`](super::terminal) does. Markdown becomes HTML by a list of what is
//! allowed. Links lead to `http` and `https` only.
//!
//! ```
//! use foldline::{
//!     conversation::{DomainEvent, NormalizedEntry, NormalizedEntryType::UserMessage},
//!     emitters::html::Page,
//! };
//!
//! let mut page = Page::default();
//! page.apply(&DomainEvent::entry(NormalizedEntry::new(UserMessage, "<script>alert(1)</script>")));
//! page.end();
//! let html = page.render();
//! assert!(html.starts_with("<!DOCTYPE html>"));
//! assert!(html.contains("&lt;script&gt;") && !html.contains("<script"));
//! ```

mod body;
mod call;
mod diff;
mod emitter;
mod entry;
mod fold;
mod found;
mod fragment;
mod icon;
mod markdown;
mod output;
mod page;
mod path;
mod seam;
mod setting;
mod text;
mod time;
mod title;
mod words;

pub use self::{
    emitter::{HtmlEmitter, HtmlEmitterState},
    fragment::{Fragment, Place},
    icon::SPRITE,
    page::{History, Page, SHEET, Snapshot},
    seam::is_seam,
};
