//! Writing an executor from scratch.
//!
//! An executor reads one agent's log and says what happened in words that all agents share. This is
//! the way from a log you have never seen to patches on a screen, with an agent that does not exist.
//! It prints four kinds of lines:
//!
//! ```json
//! {"kind":"hello","model":"parrot-2","at":1000}
//! {"kind":"say","words":"Let me look.","at":1500}
//! {"kind":"do","nr":7,"verb":"shell","with":{"line":"ls"},"at":2000}
//! {"kind":"did","nr":7,"ok":true,"gave":"a.txt","at":2400}
//! ```
//!
//! # 1. Wire types
//!
//! A log is read as [`Record`](super::wire::Record)s, most of them
//! [`Object`](super::wire::Object)s. Take out of an object what you know, with the type you expect.
//! What you did not take is left over, and that is how a field that a release adds is noticed: never
//! by an error, and never silently.
//!
//! Strings that you only pass on are [`Text`](crate::conversation::Text)s: they are not decoded.
//!
//! ```
//! use foldline::{
//!     conversation::{CorrId, Text, Timestamp},
//!     executors::wire::{Fields, Irregular, Object, Record},
//! };
//!
//! enum Line<'a> {
//!     Hello { model: Text },
//!     Say { words: Text },
//!     Do { nr: Option<CorrId>, verb: String },
//!     Unknown { kind: String },
//!     Irregular(Irregular<'a>),
//! }
//!
//! fn read<'a>(record: Record<'a>) -> (Line<'a>, Option<Timestamp>, Fields<'a>) {
//!     let mut object: Object<'a> = match record {
//!         Record::Object(object) => object,
//!         Record::Irregular(irregular) => return (Line::Irregular(irregular), None, Fields::new()),
//!     };
//!     let at = object.timestamp("at");
//!     let kind = object.str("kind").unwrap_or_default();
//!     let line = match &*kind {
//!         "hello" => Line::Hello { model: object.text("model").unwrap_or_default() },
//!         "say" => Line::Say { words: object.text("words").unwrap_or_default() },
//!         "do" => Line::Do {
//!             nr: object.u64("nr").map(|nr| nr.to_string().into()),
//!             verb: object.str("verb").unwrap_or_default().into_owned(),
//!         },
//!         _ => Line::Unknown { kind: kind.into_owned() },
//!     };
//!     (line, at, object.rest())
//! }
//!
//! let mut seen = 0;
//! Record::read(r#"{"kind":"say","words":"hi","at":1,"mood":"fine"}"#, |_, record| {
//!     let (line, at, rest) = read(record);
//!     assert!(matches!(line, Line::Say { words } if words == "hi"));
//!     assert_eq!(at, Some(Timestamp::from_millis(1)));
//!     assert_eq!(rest[0].0, "mood");
//!     seen += 1;
//! });
//! assert_eq!(seen, 1);
//! ```
//!
//! # 2. Actions
//!
//! What a tool does is an [`ActionType`](crate::conversation::ActionType). Map the tools you know;
//! [`MappedCall::tool`](super::action::MappedCall::tool) keeps any other with its name and its
//! arguments. Parameters that an action has no place for go to
//! [`MappedCall::extra`](super::action::MappedCall::extra), so that nothing is lost.
//!
//! ```
//! use foldline::{
//!     conversation::ActionType,
//!     executors::{action::MappedCall, wire::{Object, value}},
//!     json::Raw,
//! };
//!
//! fn map(verb: &str, with: Option<Raw<'_>>) -> MappedCall {
//!     let mut given: Object<'_> = with.and_then(value::object).unwrap_or_default();
//!     match verb {
//!         "shell" => {
//!             let command = given.text("line").unwrap_or_default();
//!             let title = command.clone();
//!             let action = ActionType::CommandRun { command, result: None };
//!             MappedCall { action, title, extra: given.into_extra().collect(), unknown: false }
//!         }
//!         _ => MappedCall { unknown: true, ..MappedCall::tool(verb, with) },
//!     }
//! }
//!
//! let with = Raw::parse(r#"{"line":"ls","nice":true}"#)?;
//! let call = map("shell", Some(with));
//! assert_eq!(call.title, "ls");
//! assert_eq!(call.extra[0].0, "nice");
//! assert!(map("dance", None).unknown);
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # 3. Results
//!
//! How a result ends its call is the only thing about correlation that is yours. Which call it
//! belongs to, early and late results, duplicates, and calls that are never answered are the work of
//! [`ToolCalls`](crate::conversation::ToolCalls), which every executor shares. The result is part of
//! the state while it waits for its call, so it is a plain serde value.
//!
//! ```
//! use foldline::conversation::{
//!     NormalizedEntry, Text, Timestamp, ToolStatus, tool_calls::CallResult,
//! };
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
//! struct Did {
//!     ok: bool,
//!     gave: Text,
//!     at: Option<Timestamp>,
//! }
//!
//! impl CallResult for Did {
//!     fn complete(self, call: &mut NormalizedEntry) {
//!         let Some(tool) = call.tool_mut() else { return };
//!         let status = if self.ok { ToolStatus::Success } else { ToolStatus::Failed };
//!         tool.complete(status, self.gave);
//!     }
//!
//!     fn timestamp(&self) -> Option<Timestamp> {
//!         self.at // the call's duration follows from it
//!     }
//!
//!     fn content(&self) -> Text {
//!         self.gave.clone() // what is kept if no call ever claims it
//!     }
//! }
//! ```
//!
//! # 4. The reducer
//!
//! A [`Reducer`](crate::transduce::Reducer) is a pure function: the state and a line in, the state
//! and events out. No clock, no I/O, no panic: what is wrong with a line is an event too, and
//! [`report`](super::report) says it in the same words for every agent.
//!
//! ```
//! use foldline::{
//!     conversation::{DomainEvent, NormalizedEntryType, Session},
//!     executors::{report, wire::Record},
//!     transduce::{Batch, Reducer},
//! };
//!
//! #[derive(Default)]
//! struct ParrotReducer;
//!
//! /// Whether the session was introduced; a real state also holds its `ToolCalls`.
//! #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
//! struct ParrotState {
//!     introduced: bool,
//! }
//!
//! impl<'a> Reducer<Record<'a>, ParrotState, DomainEvent> for ParrotReducer {
//!     fn init(&self) -> ParrotState {
//!         ParrotState::default()
//!     }
//!
//!     fn reduce(
//!         &self,
//!         mut state: ParrotState,
//!         record: Record<'a>,
//!     ) -> (ParrotState, Batch<DomainEvent>) {
//!         let mut events = Batch::EMPTY;
//!         if !std::mem::replace(&mut state.introduced, true) {
//!             let agent = Some("parrot".into());
//!             let session = Session { agent, ..Session::default() };
//!             events.push(DomainEvent::Session(Box::new(session)));
//!         }
//!         match record {
//!             Record::Irregular(irregular) => report::irregular(&irregular, &mut events),
//!             Record::Object(mut object) => match object.text("words") {
//!                 Some(words) => {
//!                     let at = object.timestamp("at");
//!                     object.ignore(&["kind"]);
//!                     report::unknown_fields("say", &object.rest(), &mut events);
//!                     let words = report::said(NormalizedEntryType::AssistantMessage, words, at);
//!                     events.push(words);
//!                 }
//!                 None => report::unknown_event("?", &object.rest(), None, &mut events),
//!             },
//!         }
//!         (state, events)
//!     }
//! }
//!
//! let reducer = ParrotReducer;
//! let mut state = reducer.init();
//! let mut names = Vec::new();
//! for line in [r#"{"kind":"say","words":"hi","at":1}"#, "not json", r#"{"kind":"sing"}"#] {
//!     Record::read(line, |_, record| {
//!         let (next, events) = reducer.reduce(std::mem::take(&mut state), record);
//!         state = next;
//!         names.extend(events.iter().map(DomainEvent::name));
//!     });
//! }
//! assert_eq!(names, ["session", "new_entry", "warning", "new_entry", "warning", "new_entry"]);
//! ```
//!
//! # 5. Into the house
//!
//! Three places, and no other, know of a new agent:
//!
//! 1. its folder here, with the wire types, the action mapper, the result and the reducer, as
//!    [`droid`](super::droid) has them;
//! 2. one line in the registry (`registry.rs`), which gives it a place in
//!    [`Executor`](super::Executor), and, if the format is new, its name in
//!    [`Format`](super::Format) and what its lines look like in [`Executor::recognise`](super::Executor::recognise);
//! 3. a folder of small logs under `tests/fixtures`, one for each oddity. The laws (determinism,
//!    split invariance, balance, ...) then run over them without another line of code.
//!
//! The whole of a small agent in one file is `examples/custom_executor.rs`.
