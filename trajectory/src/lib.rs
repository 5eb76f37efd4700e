//! Sessions of coding agents as trajectories in [ATIF], the Agent Trajectory Interchange Format, version 1.8.
//!
//! [`Atif`] is an emitter that collects a session; [`Atif::render`] writes its document.
//!
//! | session | document |
//! | --- | --- |
//! | message of the user | step of the source `user` |
//! | thinking, then a message, then calls of the agent, until a result | one step of the source `agent` |
//! | any other entry | step of the source `system` |
//! | call, and its result | `tool_calls`, and the `observation` of the same step, paired by id |
//! | entries of a sub-agent | a trajectory of `subagent_trajectories`, to which the result of its call refers |
//! | a part of the session in another log that continues it | further steps of the same document: no `continued_trajectory_ref` |
//! | picture | a content part, with the path of a file or a `data:` URL |
//! | usage | `metrics` of the step with its message, or else of the last step of the agent before it |
//! | facts of the session | `session_id`, `agent`, and the rest in `extra` |
//!
//! Nothing is left out: `extra.foldline` of the document, of a step, of a call and of a result has what ATIF has no field
//! for. The `entry` in it is the index of the entry, by which the entries of sub-agents have their place.
//! `metrics.extra.cost_basis` says whether a cost is `logged` or `estimated`.
//!
//! The executor `atif` of `foldline-agents` reads these documents. It gives the same entries, except:
//!
//! - a picture in a file is not read again: its entry has the media type and the placeholder;
//! - a call without a final status, of a session that still grows, ends as `unfinished`.
//!
//! The facts of the session, its usage and the number of warnings are those at its end: when they changed is not stated.
//!
//! [ATIF]: https://github.com/harbor-framework/harbor/blob/main/rfcs/0001-trajectory-format.md
//!
//! ```
//! use foldline_domain::{DomainEvent, NormalizedEntry, NormalizedEntryType::UserMessage};
//! use foldline_trajectory::Atif;
//!
//! let mut document = Atif::default();
//! document.apply(&DomainEvent::entry(NormalizedEntry::new(UserMessage, "Why is it slow?")));
//! let (json, pictures) = document.render()?;
//! assert!(json.contains(r#""message": "Why is it slow?""#) && pictures.is_empty());
//! # Ok::<(), foldline_json::Error>(())
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod content;
mod document;
mod emitter;
mod steps;

pub use self::{content::Picture, emitter::Atif};
