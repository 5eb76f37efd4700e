//! `foldline report`: a session or a task as a text for a pull request.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
    sync::Arc,
};

use clap::{Args, ValueEnum};
use foldline_database::{
    Store,
    query::{FoundEntry, SessionFilter, SessionName, SessionOrder, SessionRow},
};
use foldline_render::{human, redact::Masker, terminal::neutralise};

use super::diff;
use crate::{
    answer::{DatabaseArgs, Filters, PricesArgs, find},
    error::Error,
    program::Program,
};

/// The largest number of characters: GitHub takes 65,536.
const MOST: usize = 60_000;

/// The largest number of characters of an answer, and of a prompt.
const MOST_ANSWER: usize = 8_000;
const MOST_PROMPT: usize = 2_000;

/// The largest numbers of listed prompts, files and failures of a session.
const MOST_LISTED: usize = 50;

/// The options of `foldline report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Session, or the id of a task: latest, latest~2, an id or its first characters, a number, or a part of a title
    #[arg(default_value = "latest", value_name = "SESSION|TASK")]
    about: String,

    /// Format of the text
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,

    /// Mask secrets, home directories and e-mail addresses where they are recognised
    #[arg(long)]
    redact: bool,

    #[command(flatten)]
    database: DatabaseArgs,

    #[command(flatten)]
    filters: Filters,

    #[command(flatten)]
    prices: PricesArgs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Markdown that is read as it is
    #[default]
    Text,
    /// Markdown with folded parts, for a page that renders it
    Md,
}

/// `foldline report`.
pub(crate) fn run(program: &Program, args: &ReportArgs) -> Result<u8, Error> {
    let database = args.database.open(program)?;
    args.filters.check_agent(program, Some(&*database))?;
    database.estimate_with(Arc::new(args.prices.load()?.into_owned()))?;
    let sessions = sessions(&*database, args)?;
    let mut report = Report { format: args.format, text: String::new() };
    if let [_, _, ..] = &*sessions {
        let _ = writeln!(report.text, "# {}\n", args.about);
    }
    for session in &sessions {
        report.add(&*database, session)?;
    }
    database.confirm()?;
    let mut text = human::beginning(&report.text, MOST).into_owned().into_bytes();
    if args.redact {
        let mut masker = Masker::new();
        text.split_inclusive_mut(|byte| *byte == b'\n').for_each(|line| masker.mask(line));
    }
    let text = String::from_utf8_lossy(&text);
    io::stdout().write_all(neutralise(&text).as_bytes()).map_err(Error::Output)?;
    Ok(database.exit_code())
}

/// The sessions of a task, the first one first, or the named session.
fn sessions(database: &dyn Store, args: &ReportArgs) -> Result<Vec<SessionRow>, Error> {
    let of = |filter| database.sessions(&filter, SessionOrder::Began);
    if database.task_names()?.contains(&args.about) {
        let filter = SessionFilter::of_task(&args.about);
        let mut all = of(SessionFilter { grouping: args.filters.chosen()?.grouping, ..filter })?;
        all.reverse();
        if !all.is_empty() {
            return Ok(all);
        }
    }
    let session = find::session(database, &args.about, &args.filters)?;
    Ok(database.session_row(session)?.into_iter().collect())
}

struct Report {
    format: Format,
    text: String,
}

impl Report {
    fn add(&mut self, database: &dyn Store, session: &SessionRow) -> Result<(), Error> {
        let own = SessionFilter { name: Some(session.number.into()), ..SessionFilter::default() };
        let tree = SessionName::TreeOf(session.number);
        let tree = SessionFilter { name: Some(tree), ..SessionFilter::default() };
        let mut prompts = database.prompts(&own)?;
        prompts.reverse();
        let answer = database.last_answer(session.number)?;
        let files = diff::changes(database, session.number)?;
        let failures = database.failures(&tree)?;
        let title = session.title.as_deref().and_then(|title| title.lines().next());
        let _ = writeln!(self.text, "## {}\n", human::beginning(title.unwrap_or("Session"), 100));
        let _ = writeln!(self.text, "{}\n", facts(session));
        if let Some(first) = prompts.first() {
            let quoted = human::beginning(first.text.trim(), MOST_PROMPT).replace('\n', "\n> ");
            let _ = writeln!(self.text, "> {quoted}\n");
        }
        if let Some(answer) = answer {
            let _ = writeln!(self.text, "{}\n", human::beginning(answer.trim(), MOST_ANSWER));
        }
        let (added, removed): (usize, usize) = files
            .iter()
            .fold((0, 0), |(added, removed), file| (added + file.added, removed + file.removed));
        let changed = files
            .iter()
            .map(|file| format!("- `{}` +{} −{}", code(&file.path), file.added, file.removed));
        self.part(
            &format!("{}, +{added} −{removed}", human::number_of(files.len(), "file")),
            changed,
        );
        let failed = failures.iter().map(|failure| format!("- {}", failed(failure)));
        self.part(&human::number_of(failures.len(), "failure"), failed);
        let more = prompts.iter().skip(1).map(|prompt| {
            let said = prompt.text.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("- {}", human::beginning(&said, 300))
        });
        self.part(&human::number_of(prompts.len().saturating_sub(1), "further prompt"), more);
        Ok(())
    }

    /// A list below a heading, folded where the format can.
    fn part(&mut self, heading: &str, lines: impl ExactSizeIterator<Item = String>) {
        let count = lines.len();
        if count == 0 {
            return;
        }
        let mut listed = lines.take(MOST_LISTED).collect::<Vec<_>>().join("\n");
        if count > MOST_LISTED {
            let _ = write!(listed, "\n- and {} more", count - MOST_LISTED);
        }
        let _ = match self.format {
            Format::Text => writeln!(self.text, "**{heading}**\n\n{listed}\n"),
            Format::Md => writeln!(
                self.text,
                "<details><summary>{heading}</summary>\n\n{listed}\n\n</details>\n"
            ),
        };
    }
}

/// `claude-code, claude-opus-4-6, 12 min, 34 calls (2 failed), 1.2M tokens, ≈$3.20`.
fn facts(session: &SessionRow) -> String {
    let positive = |n: i64| u64::try_from(n).unwrap_or(0);
    let mut facts: Vec<String> =
        [&session.agent, &session.model].into_iter().flatten().cloned().collect();
    facts.extend((session.agents > 0).then(|| human::number_of(session.agents, "agent")));
    facts.extend(session.duration_ms.map(positive).filter(|ms| *ms > 0).map(human::duration));
    let failed = match session.failures {
        0 => String::new(),
        failed => format!(" ({failed} failed)"),
    };
    facts.push(human::number_of(session.calls, "call") + &failed);
    facts.extend(session.tokens.map(|tokens| format!("{} tokens", human::count(positive(tokens)))));
    facts.extend(session.cost_usd.map(|cost| {
        let mark = if session.cost_basis.as_deref() == Some("logged") { "" } else { "≈" };
        format!("{mark}${cost:.2}")
    }));
    facts.join(", ")
}

/// A failure on a line of Markdown.
fn failed(failure: &FoundEntry) -> String {
    let said = failure.what.as_deref().or(failure.content.as_deref()).unwrap_or_default();
    let said = said.lines().next().unwrap_or_default();
    let code_of = failure.exit_code.filter(|code| *code != 0);
    let code_of = code_of.map_or(String::new(), |code| format!(", exit {code}"));
    let tool = failure.tool.as_deref().unwrap_or("error");
    format!("{tool} `{}`{code_of}", code(&human::beginning(said, 120)))
}

/// Text within the marks of code.
fn code(text: &str) -> String {
    text.replace('`', "'")
}
