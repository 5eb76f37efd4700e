//! `foldline show`: prints a session as a transcript.

use std::{
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use foldline::{
    position::{Located, SessionKey},
    processor::DEFAULT_MAX_LINE,
    source::{Notice, Until},
    transduce::{Batch, Emitter, filter},
};
use foldline_database::{
    Store,
    query::{Period, SessionFilter, SessionName, SessionOrder},
};
use foldline_domain::{DomainEvent, NormalizedEntry, NormalizedEntryType, Timestamp};
use foldline_render::transcript::{SessionTranscripts, Transcript, TranscriptStyle};
use jiff::tz::TimeZone;

mod entries;

use crate::{
    answer::{AskArgs, Kind, OutputFormat, Value, answer, find},
    error::Error,
    exit,
    log::Log,
    only::{Only, What},
    options::width,
    pager::Output,
    pipeline::{self, Moved},
    program::Program,
    terminal::Terminal,
    verbs::usage::Spent,
};

/// The options of `foldline show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Session: latest, latest~2, an id or its first characters, a number, a part of a title, or the path of a log;
    /// with :84 at the end, entry 84 and its surroundings
    #[arg(default_value = "latest")]
    session: String,

    /// Print long texts and outputs in full
    #[arg(long)]
    full: bool,

    /// Kinds of entries to print, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    only: Vec<What>,

    /// Hide the thoughts of the agent
    #[arg(long)]
    no_thinking: bool,

    /// Print the time of each entry
    #[arg(long)]
    times: bool,

    /// Only the last N entries; for --format json and csv
    #[arg(long, value_name = "N")]
    last: Option<u32>,

    /// Follow the log as it grows, until Ctrl-C
    #[arg(long)]
    follow: bool,

    #[command(flatten)]
    pub(crate) ask: AskArgs,
}

/// `foldline show`.
pub(crate) fn run(program: &Program, args: &ShowArgs) -> Result<u8, Error> {
    let (session, entry) = match Path::new(&args.session).exists() {
        true => (&*args.session, None),
        false => find::reference(&args.session),
    };
    let path = Path::new(session);
    let is_transcript = args.ask.print.format == OutputFormat::Table;
    if is_transcript && args.last.is_some() {
        return Err(Error::WrongUse("--last is for --format json and csv".to_owned()));
    }
    if args.follow && !is_transcript {
        return Err(Error::WrongUse("--follow shows a transcript; leave out --format".to_owned()));
    }
    if find::is_path(session) {
        return match is_transcript {
            true => log(program, args, path, entry, None),
            false => Err(Error::WrongUse(
                "a log is shown as a transcript; foldline replay --format conversation has it as JSON".to_owned(),
            )),
        };
    }
    if !is_transcript {
        return answer(program, &args.ask, |asked| {
            entries::answer(asked, session, entry, args.last)
        });
    }
    let database = args.ask.database.open(program)?;
    let row = find::session(&*database, session, &args.ask.filters)?;
    if args.follow {
        let (followed, path) =
            Followed::of(&*database, row)?.ok_or_else(|| Error::NoFile(session.into()))?;
        drop(database);
        return log(program, args, &path, entry, Some(&followed));
    }
    stored(args, &*database, (row, entry), program.terminal, Output::paged(program.terminal))?;
    Ok(database.exit_code())
}

/// Shows a session of the database, or an entry of it.
pub(crate) fn stored(
    args: &ShowArgs,
    database: &dyn Store,
    (row, entry): (i64, Option<u64>),
    terminal: Terminal,
    output: Output,
) -> Result<(), Error> {
    let mut shown = Shown::new(args, entry, terminal)?;
    let mut out = BufWriter::new(output);
    let mut written = Ok(());
    database.nested_events(row, |event| {
        if written.is_ok() {
            written = shown.emit(&event).into_iter().try_for_each(|text| writeln!(out, "{text}"));
        }
    })?;
    if written.is_ok() {
        written = shown.finish().into_iter().try_for_each(|text| writeln!(out, "{text}"));
    }
    finish(out, written).map(drop)
}

/// Shows a log, which need not be in a database.
fn log(
    program: &Program,
    args: &ShowArgs,
    path: &Path,
    entry: Option<u64>,
    followed: Option<&Followed>,
) -> Result<u8, Error> {
    if !args.follow {
        args.ask.filters.refuse_choice("a log is shown whole")?;
    }
    let openers = program.openers();
    let mut log = match args.follow {
        true => Log::follow(&openers, path, Until::Stopped)?,
        false => Log::open(&openers, path)?,
    };
    let executor = log.executor(&program.registry, "auto", DEFAULT_MAX_LINE)?;
    let shown = Shown::new(args, entry, program.terminal)?;
    let begin = |span| {
        let (shown, mut followed) = (shown.clone(), followed.cloned());
        let shown = SessionTranscripts::new(shown.style, move || shown.clone());
        let shown = filter(shown, move |event: &Located<DomainEvent>| {
            followed.as_mut().is_none_or(|followed| followed.has(event))
        });
        pipeline::begin(executor.clone(), shown, DEFAULT_MAX_LINE, span)
    };
    let output = if args.follow { Output::stdout() } else { Output::paged(program.terminal) };
    let (mut out, mut written) = (BufWriter::new(output), Ok(()));
    let mut processor = begin(log.span());
    let print = |out: &mut BufWriter<Output>, written: &mut io::Result<()>, text: String| {
        if written.is_ok() {
            *written = writeln!(out, "{text}");
        }
    };
    while written.is_ok() {
        let print = |text| print(&mut out, &mut written, text);
        match pipeline::advance(&mut log, &mut processor, print)? {
            // Prints the entries so far before the log grows.
            Moved::Read(_) if args.follow && written.is_ok() => written = out.flush(),
            Moved::Noticed(notice) | Moved::NextFile(notice) => {
                Log::report(path, &notice);
                // What was read is read again: its calls and tokens count once.
                if matches!(notice, Notice::Rewritten) {
                    processor = begin(log.span());
                }
            }
            Moved::Read(_) | Moved::Idle => {}
            Moved::End | Moved::Done => break,
        }
    }
    processor.finish(|text| print(&mut out, &mut written, text));
    finish(out, written)
}

fn finish(out: BufWriter<Output>, written: io::Result<()>) -> Result<u8, Error> {
    written.and_then(|()| Output::end(out)).map_err(Error::Output)?;
    Ok(exit::SUCCESS)
}

/// The session that is followed, in a log that may have others.
#[derive(Clone)]
struct Followed {
    id: Option<String>,
    /// Its key, once it is known.
    key: Option<SessionKey>,
}

impl Followed {
    /// A session of a database, and the path of its log.
    fn of(database: &dyn Store, row: i64) -> Result<Option<(Self, PathBuf)>, Error> {
        let name = Some(SessionName::from(row));
        let one = SessionFilter { name, ..SessionFilter::default() };
        let Some(log) = database.session_log(&one)? else { return Ok(None) };
        let named = database.sessions(&one, SessionOrder::Number)?;
        let id = named.into_iter().next().and_then(|session| session.session);
        Ok(Some((Self { id, key: Some(SessionKey(log.key)) }, log.path.into())))
    }

    /// Whether an event is one of this session. Its id decides where the log states it, since the key changes if an
    /// agent adds a session before it to its database.
    fn has(&mut self, event: &Located<DomainEvent>) -> bool {
        if let DomainEvent::Session(facts) = &event.item
            && let (Some(id), Some(stated)) = (&self.id, &facts.session_id)
        {
            let other = self.key.filter(|key| *key != event.session);
            self.key = if stated.as_str() == id { Some(event.session) } else { other };
        }
        self.key == Some(event.session)
    }
}

/// A transcript of the selected entries.
#[derive(Clone)]
struct Shown<'a> {
    args: &'a ShowArgs,
    terminal: Terminal,
    style: TranscriptStyle,
    transcript: Transcript,
    period: Period,
    zone: TimeZone,
    /// The last printed minute.
    minute: Option<String>,
    only: Only,
    /// The requested entry.
    entry: Option<u64>,
    /// The number of entries.
    count: u64,
    /// The first and the last moment.
    times: Option<(Timestamp, Timestamp)>,
    spent: Spent,
}

impl<'a> Shown<'a> {
    fn new(args: &'a ShowArgs, entry: Option<u64>, terminal: Terminal) -> Result<Self, Error> {
        let style = TranscriptStyle::new(width(args.ask.print.width))
            .with_color(terminal.is_coloured())
            .with_full(args.full);
        let zone = args.ask.filters.zone();
        Ok(Self {
            args,
            terminal,
            style,
            transcript: Transcript::new(style),
            period: args.ask.filters.chosen()?.period,
            zone,
            minute: None,
            only: Only::new(&args.only),
            entry,
            count: 0,
            times: None,
            spent: Spent::new(args.ask.prices.load()?.into_owned()),
        })
    }

    /// Whether an event is shown.
    fn chooses(&mut self, event: &DomainEvent) -> bool {
        let Self { args, period, entry: asked, count, only, .. } = self;
        let is_near = |asked: u64| asked.abs_diff(*count) <= entries::AROUND.unsigned_abs();
        only.chooses(event, |entry| is_wanted(args, *period, entry) && asked.is_none_or(is_near))
    }

    fn minute_of(&self, at: Timestamp) -> String {
        Value::Integer(at.as_millis()).shown(Kind::Minute, &self.zone)
    }

    /// The lines after the footer: the time, and an estimated cost. Unknown values are omitted.
    fn facts(&mut self) -> Vec<String> {
        let date = self.times.map(|(first, last)| {
            let (first, last) = (self.minute_of(first), self.minute_of(last));
            if first == last { first } else { format!("{first} to {last}") }
        });
        let facts = [("cost", self.spent.estimated()), ("date", date)];
        let facts = facts.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let (dim, plain) =
            if self.terminal.is_coloured() { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
        facts.map(|(name, value)| format!("{dim}    {name:<10}{plain}{value}")).collect()
    }

    /// The time of an entry, if its minute differs from that of the previous entry.
    fn time(&mut self, event: &DomainEvent) -> Option<String> {
        let minute = self.minute_of(event.timestamp().filter(|_| self.args.times)?);
        let is_new = self.minute.as_ref() != Some(&minute);
        self.minute = Some(minute.clone());
        is_new.then_some(minute)
    }
}

fn is_wanted(args: &ShowArgs, period: Period, entry: &NormalizedEntry) -> bool {
    let is_hidden = args.no_thinking && entry.entry_type == NormalizedEntryType::Thinking;
    !is_hidden && period.has(entry.timestamp)
}

impl Emitter<DomainEvent, String> for Shown<'_> {
    fn emit(&mut self, event: &DomainEvent) -> Batch<String> {
        self.spent.take(event);
        if let Some(at) = event.timestamp() {
            let (first, last) = self.times.unwrap_or((at, at));
            self.times = Some((first.min(at), last.max(at)));
        }
        // A call that is shown because it failed is printed at its end.
        let Self { args, period, entry, only, .. } = self;
        let begun = only.begun(event, |call| entry.is_none() && is_wanted(args, *period, call));
        if let Some(begun) = begun {
            return self.emit(&begun).into_iter().chain(self.emit(event)).collect();
        }
        let is_new = matches!(
            event,
            DomainEvent::NewEntry { .. }
                | DomainEvent::OpenEntry { .. }
                | DomainEvent::NewToolCall { .. }
        );
        let index = self.count;
        let is_chosen = self.chooses(event);
        self.count += u64::from(is_new);
        if !is_chosen {
            self.transcript.skip(event);
            return Batch::EMPTY;
        }
        let time = if is_new { self.time(event) } else { None };
        let asked = self.entry.filter(|asked| is_new && *asked == index);
        let asked = asked.map(|asked| format!("\n── entry {asked} ──"));
        let text = self.transcript.emit(event);
        match (&time, &asked) {
            (None, None) => text,
            _ => time.into_iter().chain(asked).chain(text).collect(),
        }
    }

    fn finish(&mut self) -> Batch<String> {
        let text = self.transcript.finish();
        let facts = if text.is_empty() { Vec::new() } else { self.facts() };
        text.into_iter().chain(facts).collect()
    }
}
