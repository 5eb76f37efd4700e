//! Writing an executor: from an unknown log to a format that every command of the program reads.
//!
//! The agent is fictional. It prints one JSON object per line:
//!
//! ```json
//! {"kind":"hello","model":"parrot-2","cwd":"/home/ada","at":1000}
//! {"kind":"say","words":"Let me look.","mood":"fine","at":1500}
//! {"kind":"do","nr":7,"verb":"shell","with":{"line":"ls","quiet":true},"at":2000}
//! {"kind":"did","nr":7,"ok":true,"gave":"a.txt","at":2400}
//! ```
//!
//! This is the whole executor. Its parts are explained below.
//!
//! ```
//! use std::borrow::Cow;
//!
//! use foldline_agents::prelude::*;
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
//!         Format::new("parrot", "Parrot", "parrot").with_homes(&["~/.parrot/logs"]);
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
//! /// The action of a call. Parameters without a field in the action are kept with it.
//! fn map(verb: &str, with: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
//!     let is_plain = || false; // every tool of the agent has an action
//!     MappedCall::of(verb, with, is_plain, |given| match verb {
//!         "shell" => Some(action::command_run(given.text("line"))),
//!         "peek" => {
//!             let path = given.str("file").unwrap_or_default();
//!             Some(action::file_read(files::relative_path(&path, cwd)))
//!         }
//!         _ => None,
//!     })
//! }
//!
//! // Registered, the format is recognised and read.
//! let registry = Registry::builtin().with(Parrot);
//! let parrot = registry.named("parrot").ok_or("it was just added")?;
//! let log = r#"{"kind":"hello","model":"parrot-2","cwd":"/home/ada","at":1000}
//! {"kind":"say","words":"Let me look.","mood":"fine","at":1500}
//! {"kind":"do","nr":7,"verb":"shell","with":{"line":"ls","quiet":true},"at":2000}
//! {"kind":"did","nr":7,"ok":true,"gave":"a.txt","at":2400}
//! "#;
//! let mut recogniser = registry.recogniser();
//! for line in log.lines() {
//!     foldline_agents::wire::Record::read(line, |_, record| recogniser.observe(&record));
//! }
//! assert_eq!(recogniser.verdict(), Verdict::Certain(parrot.format()));
//!
//! // Check the laws: one log is enough to begin with.
//! # #[cfg(feature = "testkit")]
//! foldline_testkit::law::every(Parrot, log.as_bytes())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The record
//!
//! [`parse`](super::Executor::parse) takes the known fields out of an [`Object`](super::wire::Object), each with its
//! expected type. [`ExecutorReducer`](super::ExecutorReducer) reports the fields that were not taken. So a field that a new release
//! adds is reported, neither an error nor lost. A field of an unexpected type is not taken, and is reported in the same
//! way. Known but useless fields are [ignored](super::wire::Object::ignore) by name.
//!
//! The [`Header`](super::Header) has the fields that every record has: its type, its time, and the call whose sub-agent
//! wrote it. It is initialised from `type` and `timestamp`; this agent names both fields differently. A record of an
//! unknown type is [`Unknown`](super::Parsed::Unknown) and is kept whole, so `parse` must decide before it takes
//! fields.
//!
//! A string that is only passed on is a [`Text`](foldline_domain::Text), which is not decoded.
//!
//! # Events
//!
//! [`line`](super::Executor::line) emits events through the [`Context`](super::Context): facts of the session, entries,
//! calls, results and tokens. The library pairs calls and results by id, also if a result comes before its call, twice
//! or never, and ends open calls at the end of the log. `extra` are the fields that were not taken: they belong to the
//! metadata of the entry.
//!
//! State between records is in [`Memory`](super::Executor::Memory), a plain value that serde can store: a run may stop
//! after any record and resume in another process. An executor uses no clock, randomness or I/O.
//!
//! # Actions
//!
//! The action of a call is an [`ActionType`](foldline_domain::ActionType), built by the functions of
//! [`action`](super::action). A call without one keeps its name and arguments, and is reported as unknown
//! ([`MappedCall::of`](super::MappedCall::of)).
//!
//! # Results
//!
//! The result of a tool is a [`ToolOutcome`](foldline_domain::tool_calls::ToolOutcome): a status and a text, with
//! exit codes, diffs or durations if the log states them. If only the text of the output states them, a
//! [`ResultParser`](foldline_domain::tool_calls::ResultParser) reads them.
//!
//! # Recognition
//!
//! [`recognise`](super::Executor::recognise) judges a single record: *certain* if only this format has such records,
//! *possible* if other formats may have them, too.
//!
//! # Databases, folders, documents
//!
//! Sessions that are not in files of lines are made into lines by an [`Opener`](foldline::source::Opener), which
//! [`openers`](super::Executor::openers) returns; [`sqlite`](super::sqlite) helps with databases. The executor then reads
//! these lines, and [`session`](super::Executor::session) tells the sessions of one database apart. The example
//! `own_database` of `foldline-cli` is a whole program.
//!
//! # Tests
//!
//! The laws hold for every executor: `foldline_testkit::law::every` checks them on a log, and `foldline_testkit::guide`
//! explains how to declare what becomes of each field. The log of an opener is the bytes that
//! [`Openers::open`](foldline::source::Openers::open) and [`LogFile::read`](foldline::source::LogFile::read) give. Write a small log for each special
//! case, beginning with a real log that is cut in the middle. To add an executor to this crate, add a folder in
//! `agents/src/agents`, a line in [`Registry::builtin`](super::Registry::builtin), and such logs in
//! `tests/fixtures/<format>/`, which the tests find automatically.
