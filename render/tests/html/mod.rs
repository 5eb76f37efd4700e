//! Sessions as HTML and as Markdown: their form, and their safety against markup in logs.

mod allowed;
mod fragments;
mod golden;
mod history;
mod hostile;
mod markdown;
