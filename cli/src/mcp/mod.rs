//! `foldline mcp`: answers for agents, by the Model Context Protocol.
//!
//! A [`McpServer`](server::McpServer) answers requests over standard input and output, and next to the pages of
//! `foldline serve` over HTTP. Its tools ask the database what the verbs ask it, and a [`Call`](call::Call) has what they
//! need. Three rules hold for every answer:
//!
//! - It never exceeds its budget of tokens ([`tokens`], [`page`]), and ends with what it left out and the call that gets
//!   it.
//! - Text of a log is on lines of its own, which begin with `> ` ([`quote`]). The server's lines consist of its own words,
//!   of numbers, and of names that a log cannot choose.
//! - It changes nothing but the index, which is refreshed first, as for the other verbs.

mod answers;
mod args;
mod arguments;
mod call;
mod entry;
mod excerpt;
mod frames;
#[cfg(feature = "serve")]
mod http;
mod listing;
mod page;
mod print_config;
mod project;
mod prompts;
mod quote;
mod redaction;
mod resources;
mod server;
mod stdio;
mod tokens;
mod tools;

#[cfg(feature = "serve")]
pub(crate) use self::http::service;
pub(crate) use self::{args::McpArgs, stdio::run};
