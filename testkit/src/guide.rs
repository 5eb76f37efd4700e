//! How do I know that my reducer is right? How do I know that my executor is?
//!
//! # A reducer of anything
//!
//! A reducer that knows nothing of agents, and any emitter, are tested with [`foldline::laws`], without this crate: the
//! laws of every reducer need no declaration, and an invariant of your own is a line.
//!
//! ```
//! use foldline::{laws::{Laws, OfLines, inputs}, transduce::{Batch, Reducer}};
//!
//! /// Counts the bytes of each request of an access log.
//! struct Bytes;
//!
//! #[derive(Clone, Debug, PartialEq)]
//! enum Event {
//!     Sent(u64),
//!     Rejected,
//! }
//!
//! impl<'a> Reducer<&'a str, u64, Event> for Bytes {
//!     fn init(&self) -> u64 {
//!         0
//!     }
//!
//!     fn reduce(&self, sum: u64, line: &'a str) -> (u64, Batch<Event>) {
//!         match line.rsplit(' ').next().and_then(|bytes| bytes.parse::<u32>().ok()) {
//!             Some(bytes) => (sum + u64::from(bytes), Batch::one(Event::Sent(bytes.into()))),
//!             None => (sum, Batch::one(Event::Rejected)),
//!         }
//!     }
//! }
//!
//! let sent = |event: &Event| if let Event::Sent(bytes) = event { *bytes } else { 0 };
//! Laws::of(|| OfLines(Bytes), inputs("GET /[a-z]{1,4} [0-9]{0,4}"))
//!     .conserves("lines = requests + rejected", |lines, events| (lines.len(), events.len()))
//!     .invariant("bytes", move |sum, events| (*sum, events.iter().map(sent).sum()))
//!     .monotone("bytes", |sum, _| *sum)
//!     .commutes(|_, _| true)
//!     .merges(|one, two| one + two)
//!     .resumes()
//!     .check();
//! ```
//!
//! # An executor
//!
//! The rest of this page leads from a log to a reviewed account file. The executor reads an invented agent that logs what it said and
//! what it used:
//!
//! ```
//! use foldline_agents::prelude::*;
//! use foldline_testkit::{Law, law};
//!
//! struct Meter;
//!
//! enum Line {
//!     Say { text: Text, ok: bool },
//!     Used { tokens: TokenUsage },
//! }
//!
//! impl Executor for Meter {
//!     const FORMAT: Format = Format::new("meter", "Meter", "meter");
//!     type Line<'a> = Line;
//!     type Result = ToolOutcome;
//!     type Memory = ();
//!
//!     fn recognise(&self, object: &Object<'_>) -> Evidence {
//!         Evidence::possible_if(object.has("type"))
//!     }
//!
//!     fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Line> {
//!         Parsed::Line(match &*header.name {
//!             "say" => Line::Say {
//!                 text: object.text("text").unwrap_or_default(),
//!                 ok: object.bool("ok").unwrap_or(true),
//!             },
//!             "used" => {
//!                 object.ignore(&["host"]);
//!                 Line::Used {
//!                     tokens: TokenUsage {
//!                         // The author has exchanged the two.
//!                         input_tokens: object.u64("out"),
//!                         output_tokens: object.u64("in"),
//!                         ..TokenUsage::default()
//!                     },
//!                 }
//!             }
//!             _ => return Parsed::Unknown,
//!         })
//!     }
//!
//!     fn line(&self, line: Line, extra: Extra, (): &mut (), cx: &mut Context<'_, ToolOutcome>) {
//!         match line {
//!             Line::Say { text, ok: true } => {
//!                 cx.entry(NormalizedEntryType::AssistantMessage, text, extra);
//!             }
//!             Line::Say { text, ok: false } => {
//!                 cx.entry(NormalizedEntryType::ErrorMessage, text, extra);
//!             }
//!             Line::Used { tokens } => cx.usage(tokens),
//!         }
//!     }
//! }
//!
//! let log = br#"{"type":"say","text":"hello you","ok":true,"timestamp":1000}
//! {"type":"used","in":120,"out":7,"host":"a-1","timestamp":2000}
//! "#;
//!
//! // 1. Check the laws. A field that is dropped without a reason violates the law of accounts.
//! let violation = law::every(Meter, log).unwrap_err();
//! assert_eq!(
//!     violation.to_string(),
//!     "law 16 (account) does not hold, at line 2: a field is not accounted for as declared\n\
//!      observed:\n  used host = dropped: ?\n      line 2: it has no effect, and no reason is declared"
//! );
//!
//! // 2. Generate the accounts, write them to a file, and read every line. `(again)` is a repetition of the record.
//! let observed = law::Accounts::of(Meter, [log]);
//! assert_eq!(
//!     observed.to_string(),
//!     "say (again) = +assistant_message\n\
//!      say ok = false -> +error_message; true -> +assistant_message\n\
//!      say text = assistant_message.content\n\
//!      say timestamp = assistant_message.timestamp\n\
//!      say type = say -> +assistant_message\n\
//!      used (again) = +usage\n\
//!      used host = dropped: ?\n\
//!      used in = usage.output_tokens\n\
//!      used out = usage.input_tokens\n\
//!      used timestamp = usage.timestamp\n\
//!      used type = used -> +usage\n"
//! );
//!
//! // 3. The two lines `used in` and `used out` are wrong: correct them in the file, and state why `host` is dropped.
//! let file = observed
//!     .to_string()
//!     .replace("used in = usage.output_tokens", "used in = usage.input_tokens")
//!     .replace("used out = usage.input_tokens", "used out = usage.output_tokens")
//!     .replace("host = dropped: ?", "host = dropped: the machine, which is in no event");
//! let accounts: law::Accounts = file.parse()?;
//!
//! // 4. Now the law names the defect of the executor, until it is mended.
//! let violation = law::Every::of(Meter).accounting(&accounts).check(log).unwrap_err();
//! assert_eq!(violation.law, Law::Account);
//! assert_eq!(
//!     violation.to_string(),
//!     "law 16 (account) does not hold, at line 2: fields are not accounted for as declared\n\
//!      observed:\n  used in = usage.output_tokens\n      \
//!        line 2: declared: used in = usage.input_tokens\n  \
//!      used out = usage.input_tokens\n      \
//!        line 2: declared: used out = usage.output_tokens"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A test keeps the file: [`Accounts::check`](super::law::Accounts::check) generates the accounts of all logs again and
//! compares them with the file, and [`Every`](super::law::Every) checks each log with it.
//! [`Accounts::renewed`](super::law::Accounts::renewed) keeps the reasons when the file is written again. A new field of the agent, an effect that changed or got lost, is then
//! a line that a person reads.
//!
//! # What to check besides
//!
//! - Logs whose values differ: texts that are empty, long, of several lines and paragraphs, with spaces at their ends; zeros,
//!   large numbers and fractions. The law examines each class of values that a field has, and only those. A value that is
//!   there in another form than a changed one is `(altered)`: trimmed, rounded, dropped because it is zero.
//! - A short log, of at most 32 records, for the law of a bounded state.
//! - Logs with tool calls: results in another order, a call without a result, a failed one. [`Report`](super::law::Report)
//!   says which laws a log did not exercise; collect logs until each is exercised.
//! - [`generate::mutated`](super::generate::mutated) gives logs as a later release or a damaged disk would write them,
//!   [`generate::marked`](super::generate::marked) gives logs with other texts, and
//!   [`generate::sessions`](super::generate::sessions) gives streams of two sessions.
//! - [`length`](super::law::length): a log that is repeated to thousands of records.
//!   [`invention`](super::law::invention): texts and numbers that no log states. [`environment`](super::law::environment): the fold in
//!   another process, with another time zone, locale, home and working folder.
//! - A reducer of records that is not an executor is wrapped in a [`RecordReducer`](foldline_agents::RecordReducer), and
//!   checked by the same call. Any consumer has [`consumer_account`](super::law::consumer_account) and
//!   [`consumer_sessions`](super::law::consumer_sessions).
//!
//! # This kind of fault: this law
//!
//! Of executors that the tests break on purpose; [`foldline::laws`] has the faults of other reducers and of emitters.
//!
#![doc = include_str!("law/faults.md")]
