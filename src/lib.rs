//! Foldline folds the logs of coding agents into one stream of domain events, and fans it out.
//!
//! `fn(State, In) -> (State, Events)`, and every consumer reads the same events:
//!
//! ```text
//!  bytes ─▶ lines ─▶ records ─▶ ┌───────────┐  DomainEvent  ┌─▶ patches ─▶ a user interface
//!                               │  Reducer  │──────────────▶├─▶ a transcript
//!        (processor: I/O)       │  (pure)   │   by &ref,    └─▶ yours
//!                               └───────────┘   one pass
//!                                  State
//! ```
//!
//! The modules, each of which uses only those before it:
//!
//! - [`transduce`]: the framework. [`Reducer`](transduce::Reducer), [`Emitter`](transduce::Emitter) and
//!   the [`Transducer`](transduce::Transducer) that composes them. Knows no JSON and no agent.
//! - [`files`]: files for their owner only, replaced as a whole.
//! - [`json`]: JSON values as raw text, and fast serialisation.
//! - [`position`]: places in a log; values with their place.
//! - [`conversation`]: the domain. [`DomainEvent`](conversation::DomainEvent) is the one boundary
//!   between agents and consumers; [`ToolCalls`](conversation::ToolCalls) pairs results with calls.
#![cfg_attr(
    feature = "executors",
    doc = "- [`executors`]: one folder per agent; wire types in, domain events out."
)]
#![cfg_attr(
    feature = "patch",
    doc = "- [`emitters`]: one file or folder per consumer; domain events in, output out."
)]
#![cfg_attr(
    feature = "processor",
    doc = "- [`processor`]: the imperative shell: bytes, lines, positions."
)]
#![cfg_attr(feature = "pricing", doc = "- [`pricing`]: what tokens cost.")]
#![cfg_attr(
    feature = "source",
    doc = "- [`source`]: logs as files that grow, are rotated, replaced or truncated; following."
)]
//! - [`ledger`]: the commit rule: positions, states and outputs are committed together.
#![cfg_attr(feature = "store", doc = "- [`store`]: the live document with its subscribers.")]
#![forbid(unsafe_code)]

#[cfg(feature = "conversation")]
pub mod conversation;
#[cfg(feature = "conversation")]
pub mod emitters;
#[cfg(feature = "executors")]
pub mod executors;
#[cfg(feature = "conversation")]
pub mod files;
#[cfg(feature = "conversation")]
pub mod json;
#[cfg(feature = "conversation")]
pub mod ledger;
#[cfg(all(doc, feature = "processor"))]
pub mod performance;
#[cfg(feature = "conversation")]
pub mod position;
#[cfg(feature = "pricing")]
pub mod pricing;
#[cfg(feature = "processor")]
pub mod processor;
#[cfg(feature = "source")]
pub mod source;
#[cfg(feature = "store")]
pub mod store;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod transduce;
#[cfg(feature = "conversation")]
pub mod wire;

/// The snippets of the README are tests.
#[cfg(all(doctest, feature = "full", feature = "testkit"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// And those of the design's questions and answers.
#[cfg(all(doctest, feature = "full"))]
#[doc = include_str!("../DESIGN.md")]
struct Design;
