//! A session as HTML: a [`Fragment`] for each entry, and the whole [`Page`].
//!
//! [`HtmlEmitter`] renders one entry as one `<article>`. A live page inserts fragments as they arrive; [`Page`]
//! collects them into one self-contained file: no other file, no network. Its policy (`Content-Security-Policy`)
//! allows only the embedded style sheet and the embedded script, by their hashes. The script selects the displayed
//! entries and finds words; the page is complete without it.
//!
//! All content of a log is text. It is escaped, and characters that control a terminal or change the writing
//! direction are made visible, as in [`terminal`](super::terminal). Markdown is converted to HTML with an allow list.
//! Links lead to `http` and `https` only.
//!
//! ```
//! use foldline_domain::{DomainEvent, NormalizedEntry, NormalizedEntryType::UserMessage};
//! use foldline_render::html::Page;
//!
//! let mut page = Page::default();
//! page.apply(&DomainEvent::entry(NormalizedEntry::new(UserMessage, "<script>alert(1)</script>")));
//! page.end();
//! let html = page.render();
//! assert!(html.starts_with("<!DOCTYPE html>"));
//! assert!(html.contains("&lt;script&gt;") && !html.contains("<script>alert"));
//! ```

mod body;
mod call;
mod contents;
mod diff;
mod emitter;
mod entry;
mod fragment;
mod label;
mod markdown;
mod output;
mod page;
mod picture;
mod search_results;
mod text;
mod time;
mod visible;
mod words;

pub use self::{
    contents::Contents,
    diff::changed_file,
    emitter::{HtmlEmitter, HtmlEmitterState},
    fragment::{Fragment, Place},
    label::{SPRITE, agent_family},
    page::{History, Page, SHARED_SCRIPT, SHEET, Snapshot, Totals, VIEWS},
};
