//! `foldline pick`: a list of sessions on the whole screen.
//!
//! `state` is the list and what keys do to it; `draw` makes a picture of it. Both are pure. `screen` is the terminal,
//! and `reader` reads the database on other threads. What is typed filters, so that actions have control keys.

mod draw;
mod reader;
mod screen;
mod state;

use std::{
    ffi::OsString,
    io::{self, BufRead, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::Sender,
    },
    time::Duration,
};

use clap::{ArgMatches, Args};
use foldline_render::terminal::neutralise_line;
use ratatui::crossterm::event::{self, Event, KeyEventKind};

use self::{
    reader::{Job, News, Reader},
    screen::Screen,
    state::{Action, Picker},
};
use super::{diff, resume, show};
use crate::{
    answer::{DatabaseArgs, Filters, PricesArgs, status},
    args::Command,
    error::Error,
    exit,
    pager::Output,
    place::DatabasePlace,
    program::Program,
    signal::stop_flag,
};

/// The options of `foldline pick`.
#[derive(Debug, Args)]
pub(crate) struct PickArgs {
    /// Print the id of the chosen session instead of showing it; the list is drawn on standard error
    #[arg(long)]
    print: bool,

    #[command(flatten)]
    database: DatabaseArgs,

    #[command(flatten)]
    filters: Filters,

    #[command(flatten)]
    prices: PricesArgs,
}

/// The number of sessions that are read before the list appears.
const FIRST: usize = 200;

/// The time without a key after which the selection rests.
const REST: Duration = Duration::from_millis(50);

/// The time in which a next key comes before the next frame. Without any, keys that were read are not found.
const NEXT: Duration = Duration::from_millis(1);

/// How the list was left.
enum End {
    Quit,
    /// By a signal.
    Stopped,
    /// The name of a session.
    Chosen(String),
    /// The number of a session.
    Resume(i64),
}

/// The name of a session that is chosen for a verb, which was given these options; `None` if none was chosen.
pub(crate) fn choose(program: &Program, verb: &ArgMatches) -> Result<Option<String>, Error> {
    let mut arguments: Vec<OsString> = ["foldline", "pick", "--print"].map(Into::into).to_vec();
    for option in ["db", "logs"] {
        let values = verb.try_get_raw(option).ok().flatten().into_iter().flatten();
        arguments.extend(values.flat_map(|value| [format!("--{option}").into(), value.to_owned()]));
    }
    let Some(Command::Pick(args)) = program.parsed(arguments)?.command else { return Ok(None) };
    match list(program, &args)?.0 {
        End::Chosen(name) => Ok(Some(name)),
        End::Quit | End::Stopped | End::Resume(_) => Ok(None),
    }
}

/// Shows the list until it is left. Also returns what reads the database.
fn list(program: &Program, args: &PickArgs) -> Result<(End, Reader), Error> {
    Screen::check(args.print)?;
    let (database, updates) = args.database.open_soon(program)?;
    args.filters.check_agent(program, Some(&*database))?;
    let place = match database.file() {
        Some(file) => DatabasePlace::File(file.path().to_owned()),
        None => args.database.place()?,
    };
    let reader = Reader {
        place,
        filter: args.filters.chosen()?,
        prices: Arc::new(args.prices.load()?.into_owned()),
        zone: args.filters.zone(),
    };
    database.estimate_with(Arc::clone(&reader.prices))?;
    let mut picker = Picker::new(args.print);
    picker.set_rows(reader.rows(&*database, Some(FIRST))?);
    let list = List { program, args, reader, stop: stop_flag()? };
    let end = list.run(picker, updates)?;
    Ok((end, list.reader))
}

/// `foldline pick`.
pub(crate) fn run(program: &Program, args: &PickArgs) -> Result<u8, Error> {
    let (end, reader) = list(program, args)?;
    match end {
        End::Stopped => Ok(exit::CANCELLED),
        End::Quit if args.print => Ok(exit::CANCELLED),
        End::Quit => Ok(exit::SUCCESS),
        End::Chosen(name) => {
            writeln!(io::stdout(), "{}", neutralise_line(&name)).map_err(Error::Output)?;
            Ok(exit::SUCCESS)
        }
        End::Resume(number) => resume::stored(reader.open()?, number),
    }
}

/// A list with its options.
struct List<'a> {
    program: &'a Program,
    args: &'a PickArgs,
    reader: Reader,
    /// Set by a signal.
    stop: Arc<AtomicBool>,
}

impl List<'_> {
    /// Takes keys until one leaves the list, or a signal ends the program.
    fn run(&self, mut picker: Picker, updates: bool) -> Result<End, Error> {
        let (jobs, news) = self.reader.start(self.program, updates);
        let mut screen = Screen::enter(self.args.print)?;
        let mut is_changed = true;
        while !self.stop.load(Ordering::Relaxed) {
            for news in news.try_iter() {
                is_changed = true;
                match news {
                    News::Rows(rows) => {
                        picker.is_complete = true;
                        picker.set_rows(rows);
                    }
                    News::Preview(number, preview) => picker.set_preview(number, preview),
                    News::Message(message) => picker.message = Some(message),
                }
            }
            let now = status::now();
            // A running session becomes a past one without news.
            if is_changed || now / 1000 != picker.now / 1000 {
                picker.now = now;
                screen.draw(|frame| draw::draw(frame, &mut picker))?;
            }
            is_changed = event::poll(REST).map_err(Error::Output)?;
            if !is_changed && let Some(number) = picker.ask_preview() {
                // Without the thread, there is no preview.
                let _ = jobs.send(Job::Preview(number));
            }
            // All keys that wait, before the next frame.
            while event::poll(NEXT).map_err(Error::Output)? {
                if let Event::Key(key) = event::read().map_err(Error::Output)?
                    && key.kind != KeyEventKind::Release
                    && let Some(action) = picker.press(key)
                    && let Some(end) = self.act(action, &mut picker, &mut screen, &jobs)?
                {
                    return Ok(end);
                }
            }
        }
        Ok(End::Stopped)
    }

    /// Does what a key asks for. Only a failure of the terminal ends the list.
    fn act(
        &self,
        action: Action,
        picker: &mut Picker,
        screen: &mut Screen,
        jobs: &Sender<Job>,
    ) -> Result<Option<End>, Error> {
        if action == Action::Quit {
            return Ok(Some(End::Quit));
        }
        let (Some(row), Some(name)) = (picker.selected(), picker.name()) else { return Ok(None) };
        let number = row.session.number;
        let done = match action {
            Action::Choose if self.args.print => return Ok(Some(End::Chosen(name))),
            Action::Quit | Action::Choose => self.show(number, screen)?,
            Action::Resume => return Ok(Some(End::Resume(number))),
            Action::Diff => self.diff(number, screen)?,
            Action::Export => {
                let _ = jobs.send(Job::Export(Box::new(row.session.clone())));
                Ok(Some("exporting…".to_owned()))
            }
            Action::CopyId => {
                screen.copy(&name)?;
                Ok(Some(format!("copied, if the terminal allows it (OSC 52): {name}")))
            }
        };
        picker.message = match done {
            Ok(message) => message,
            // The pager was left before the end of the text.
            Err(error) if error.exit_code() == exit::SUCCESS => None,
            Err(error) => Some(error.to_string()),
        };
        Ok(None)
    }

    fn show(&self, number: i64, screen: &mut Screen) -> Result<Message, Error> {
        let show = |output| {
            let Some(Command::Show(mut args)) = self.program.parsed(["foldline", "show"])?.command
            else {
                return Ok(());
            };
            args.ask.prices = self.args.prices.clone();
            args.ask.filters.timezone = self.args.filters.timezone.clone();
            show::stored(
                &args,
                &*self.reader.open()?,
                (number, None),
                self.program.terminal,
                output,
            )
        };
        self.lend(screen, show)
    }

    fn diff(&self, number: i64, screen: &mut Screen) -> Result<Message, Error> {
        let changes = self.reader.open().and_then(|database| diff::changes(&*database, number));
        let changes = match changes {
            Ok(changes) if changes.is_empty() => {
                return Ok(Ok(Some("the session changed no files".to_owned())));
            }
            Ok(changes) => changes,
            Err(error) => return Ok(Err(error)),
        };
        let terminal = self.program.terminal;
        self.lend(screen, |output| diff::print(&changes, terminal, output))
    }

    /// Prints through the pager, and comes back when it has been read.
    fn lend(
        &self,
        screen: &mut Screen,
        print: impl FnOnce(Output) -> Result<(), Error>,
    ) -> Result<Message, Error> {
        let printed = screen.lend(|| {
            let (output, waits) = Output::lasting(self.program.terminal);
            let printed = print(output);
            if !waits {
                let mut out = io::stdout();
                let _ = write!(out, "\nEnter: back to the list ").and_then(|()| out.flush());
                let _ = io::stdin().lock().read_line(&mut String::new());
            }
            printed
        })?;
        // Ctrl-C was for the pager.
        self.stop.store(false, Ordering::Relaxed);
        Ok(printed.map(|()| None))
    }
}

/// What the last line says after an action.
type Message = Result<Option<String>, Error>;
