//! Writing an executor: from a log you have never seen to one that every verb of the program reads.
//!
//! The agent does not exist. It prints one JSON object a line:
//!
//! ```json
//! {"kind":"hello","model":"parrot-2","cwd":"/home/ada","at":1000}
//! {"kind":"say","words":"Let me look.","mood":"fine","at":1500}
//! {"kind":"do","nr":7,"verb":"shell","with":{"line":"ls","quiet":true},"at":2000}
//! {"kind":"did","nr":7,"ok":true,"gave":"a.txt","at":2400}
//! ```
//!
//! What follows is the whole executor. The parts are explained below.
//!
//! ```
//! use std::borrow::Cow;
//!
//! use foldline::{
//!     conversation::{
//!         CorrId, NormalizedEntryType, Session, Text, ToolStatus, tool_calls::ToolOutcome,
//!     },
//!     executors::{
//!         Context, Evidence, Executor, Extra, Format, Header, MappedCall, Parsed, Registry,
//!         Verdict, action, files,
//!         wire::{Object, value},
//!     },
//!     json::Raw,
//! };
//!
//! /// The invented agent.
//! struct Parrot;
//!
//! /// One record of its logs.
//! enum Line<'a> {
//!     Hello { model: Option<Text>, cwd: Option<Text> },
//!     Say(Text),
//!     Do { id: Option<CorrId>, verb: Cow<'a, str>, with: Option<Raw<'a>> },
//!     Did { id: Option<CorrId>, ok: bool, gave: Text },
//! }
//!
//! impl Executor for Parrot {
//!     const FORMAT: Format =
//!         Format { name: "parrot", title: "Parrot", agent: "parrot", homes: &["~/.parrot/logs"] };
//!     type Line<'a> = Line<'a>;
//!     type Result = ToolOutcome;
//!     type Memory = ();
//!
//!     fn recognise(&self, object: &Object<'_>) -> Evidence {
//!         match object.get_str("kind").as_deref() {
//!             Some("do" | "did") => Evidence::certain_if(object.has("nr")),
//!             Some("hello" | "say") => Evidence::Possible,
//!             _ => Evidence::None,
//!         }
//!     }
//!
//!     fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Line<'a>> {
//!         header.name = object.get_str("kind").unwrap_or_default();
//!         header.at = object.timestamp("at").or(header.at);
//!         let id = |object: &mut Object<'a>| object.u64("nr").map(|nr| nr.to_string().into());
//!         let line = match &*header.name {
//!             "hello" => Line::Hello { model: object.text("model"), cwd: object.text("cwd") },
//!             "say" => Line::Say(object.text("words").unwrap_or_default()),
//!             "do" => Line::Do {
//!                 id: id(object),
//!                 verb: object.str("verb").unwrap_or_default(),
//!                 with: object.raw("with"),
//!             },
//!             "did" => Line::Did {
//!                 id: id(object),
//!                 ok: object.bool("ok").unwrap_or(true),
//!                 gave: object.text("gave").unwrap_or_default(),
//!             },
//!             "tick" => {
//!                 object.ignore(&["kind"]);
//!                 return Parsed::Ignored;
//!             }
//!             _ => return Parsed::Unknown,
//!         };
//!         object.ignore(&["kind"]);
//!         Parsed::Line(line)
//!     }
//!
//!     fn line(
//!         &self,
//!         line: Line<'_>,
//!         extra: Extra,
//!         (): &mut (),
//!         cx: &mut Context<'_, ToolOutcome>,
//!     ) {
//!         match line {
//!             Line::Hello { model, cwd } => {
//!                 cx.session(Session { model, cwd, ..Session::default() });
//!             }
//!             Line::Say(words) => cx.entry(NormalizedEntryType::AssistantMessage, words, extra),
//!             Line::Do { id, verb, with } => {
//!                 let call = map(&verb, with, cx.cwd().as_deref());
//!                 cx.call(id, &verb, call, extra);
//!             }
//!             Line::Did { id, ok, gave } => {
//!                 let status = if ok { ToolStatus::Success } else { ToolStatus::Failed };
//!                 cx.result(id, ToolOutcome::text(status, gave).at(cx.at));
//!             }
//!         }
//!     }
//! }
//!
//! /// What a call does. Parameters that the action has no place for are kept with it.
//! fn map(verb: &str, with: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
//!     let mut given = with.and_then(value::object).unwrap_or_default();
//!     let action = match verb {
//!         "shell" => action::command_run(given.text("line")),
//!         "peek" => {
//!             let path = given.str("file").unwrap_or_default();
//!             action::file_read(files::relative_path(&path, cwd))
//!         }
//!         _ => {
//!             let mut call = MappedCall::tool(verb, with);
//!             call.unknown = true;
//!             return call;
//!         }
//!     };
//!     MappedCall::known(action, given)
//! }
//!
//! // Registered: recognised, and read by whoever asks the registry.
//! let registry = Registry::builtin().with(Parrot);
//! let parrot = registry.named("parrot").ok_or("it was just added")?;
//! let log = r#"{"kind":"hello","model":"parrot-2","cwd":"/home/ada","at":1000}
//! {"kind":"say","words":"Let me look.","mood":"fine","at":1500}
//! {"kind":"do","nr":7,"verb":"shell","with":{"line":"ls","quiet":true},"at":2000}
//! {"kind":"did","nr":7,"ok":true,"gave":"a.txt","at":2400}
//! "#;
//! let mut recogniser = registry.recogniser();
//! for line in log.lines() {
//!     foldline::wire::Record::read(line, |_, record| recogniser.observe(&record));
//! }
//! assert_eq!(recogniser.verdict(), Verdict::Certain(parrot.format()));
//!
//! // Law-tested: one log is enough to begin with.
//! # #[cfg(feature = "testkit")]
//! foldline::testkit::law::every(Parrot, log.as_bytes())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The record
//!
//! [`parse`](super::Executor::parse) takes out of an [`Object`](super::wire::Object) what the executor
//! knows, with the type that it expects. What it does not take is left over, and the shell reports it:
//! that is how a field that a release adds is noticed, never by an error and never silently. A field of
//! another type than expected stays, and is reported the same way. Fields that are known and of no use
//! are [ignored](super::wire::Object::ignore) by name.
//!
//! The [`Header`](super::Header) says what every record says of itself: its type, its time, and the call
//! whose sub-agent it comes from. The shell fills in `type` and `timestamp`; this agent spells both in
//! another way. A type that nobody knows is [`Unknown`](super::Parsed::Unknown): the record is kept
//! whole, so `parse` decides first and takes then.
//!
//! Strings that are only passed on are [`Text`](crate::conversation::Text)s, which are not decoded.
//!
//! # What it means
//!
//! [`line`](super::Executor::line) says it to the [`Context`](super::Context): facts of the session,
//! entries, calls, results, tokens. Calls and results are paired by id; a result may come before its
//! call, twice, or never. The executor has nothing to do for that, and nothing at the end of the log.
//! `extra` are the fields that nobody took: they go beside the entry.
//!
//! What must be remembered from one record to the next goes into
//! [`Memory`](super::Executor::Memory), a plain value that serde can store: a run may stop behind any
//! record, and go on in another process. Never a clock, never randomness, never I/O.
//!
//! # Actions
//!
//! What a call does is an [`ActionType`](crate::conversation::ActionType), made by the functions of
//! [`action`](super::action). A tool that nobody knows keeps its name and arguments
//! ([`MappedCall::tool`](super::MappedCall::tool)).
//!
//! # Results
//!
//! What a tool gave back is a [`ToolOutcome`](crate::conversation::tool_calls::ToolOutcome): a status and a
//! text, and exit codes, diffs or durations where the log states them. Where the words of an output state
//! them, a [`Wording`](crate::conversation::tool_calls::Wording) reads them.
//!
//! # Recognition
//!
//! [`recognise`](super::Executor::recognise) looks at one record, alone: *certain* where only this format
//! has such records, *possible* where others may, too.
//!
//! # Tests
//!
//! The laws hold for every executor: `testkit::law::every` checks them on a log. Write a small log for
//! each oddity; a real one cut in the middle is the first. An executor of this crate is a folder beside
//! this file, a line in [`Registry::builtin`](super::Registry::builtin), and such logs in
//! `tests/fixtures/<format>/`, which the tests find by themselves.
