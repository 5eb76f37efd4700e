//! Sessions as HTML and as Markdown: what they look like, and that nothing in a log acts in them.

mod allowed;
mod fragments;
mod golden;
mod history;
mod hostile;
mod markdown;
