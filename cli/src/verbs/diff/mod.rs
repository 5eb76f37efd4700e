//! `foldline diff`: the changes that a session made, as a unified diff.

use std::{
    collections::BTreeSet,
    io::{self, BufWriter, Write},
};

use clap::Args;
use foldline_database::{Store, query::SessionRow};
use foldline_domain::{ActionType, Timestamp, ToolStatus};
use foldline_render::terminal::neutralise;

mod section;

pub(crate) use self::section::Section;
use self::section::Sections;
use crate::{
    answer::{AskArgs, Kind, Listing, OutputFormat, Value, answer, find},
    error::Error,
    pager::Output,
    program::Program,
    say::say,
    terminal::Terminal,
};

/// The options of `foldline diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// Session: latest, latest~2, an id or its first characters, a number, or a part of a title
    #[arg(default_value = "latest")]
    session: String,

    /// List the files with their added and removed lines
    #[arg(long)]
    stat: bool,

    #[command(flatten)]
    ask: AskArgs,
}

/// `foldline diff`.
pub(crate) fn run(program: &Program, args: &DiffArgs) -> Result<u8, Error> {
    let filters = &args.ask.filters;
    if args.stat || args.ask.print.format != OutputFormat::Table {
        return answer(program, &args.ask, |asked| {
            let session = find::session(&*asked.database, &args.session, filters)?;
            Ok(listing(&changes(&*asked.database, session)?, args.stat))
        });
    }
    let database = args.ask.database.open(program)?;
    filters.check_agent(program, Some(&*database))?;
    let session = find::session(&*database, &args.session, filters)?;
    let sections = changes(&*database, session)?;
    database.confirm()?;
    if sections.is_empty() {
        say("the session changed no file by a call that succeeded");
    }
    print(&sections, program.terminal, Output::paged(program.terminal))?;
    Ok(database.exit_code())
}

/// Prints the changes of files.
pub(crate) fn print(sections: &[Section], terminal: Terminal, output: Output) -> Result<(), Error> {
    let mut out = BufWriter::new(output);
    let is_coloured = terminal.is_coloured();
    let written = sections.iter().try_for_each(|section| write(&mut out, section, is_coloured));
    written.and_then(|()| Output::end(out)).map_err(Error::Output)
}

/// The changes of a session and its parts by calls that succeeded, in the order of the calls, one section a file.
pub(crate) fn changes(database: &dyn Store, session: i64) -> Result<Vec<Section>, Error> {
    let tree = database.tree_of(session)?;
    let mut chosen = BTreeSet::from([session]);
    // A part may come before the session that it is a part of.
    for _ in 0..tree.len() {
        let parts = tree.iter().filter(|part| part.whole.is_some_and(|it| chosen.contains(&it)));
        let parts: Vec<_> = parts.map(|part| part.number).collect();
        chosen.extend(parts);
    }
    let mut calls = Vec::new();
    let parts = tree.iter().filter(|part| chosen.contains(&part.number));
    for SessionRow { number, began, cwd, .. } in parts {
        // A call without a moment comes after the one before it.
        let mut at = began.unwrap_or(i64::MIN);
        database.entries(*number, 0..i64::MAX, |stored| {
            at = stored.entry.timestamp.map_or(at, Timestamp::as_millis);
            if let Some(tool) = stored.entry.tool()
                && tool.status == ToolStatus::Success
                && let ActionType::FileEdit { changes, .. } = &tool.action_type
            {
                calls.push((at, cwd, changes.clone()));
            }
        })?;
    }
    calls.sort_by_key(|(at, ..)| *at);
    let named = tree.iter().find(|part| part.number == session);
    let mut sections = Sections::new(named.and_then(|session| session.cwd.as_deref()));
    for (_, cwd, changes) in &calls {
        changes.iter().for_each(|change| sections.add(cwd.as_deref(), change));
    }
    Ok(sections.finish())
}

/// The files as rows.
fn listing(sections: &[Section], is_brief: bool) -> Listing {
    let count = |count: usize| Some(count).into();
    let mut listing = Listing::named("path old_path changes added removed diff")
        .with_kind(Kind::Path, &["old_path"])
        .with_kind(Kind::Number, &["changes", "added", "removed"]);
    listing.rows.extend(sections.iter().map(|section| {
        vec![
            section.path.as_str().into(),
            section.old_path.as_deref().map_or(Value::Null, Value::from),
            count(section.changes),
            count(section.added),
            count(section.removed),
            Value::Text(section.text()),
        ]
    }));
    let sum = |of: fn(&Section) -> usize| count(sections.iter().map(of).sum());
    let total = vec![
        "total".into(),
        Value::Null,
        sum(|section| section.changes),
        sum(|section| section.added),
        sum(|section| section.removed),
        Value::Null,
    ];
    let has_old = sections.iter().any(|section| section.old_path.is_some());
    let listing = listing.with_total(total);
    let listing = if is_brief { listing.without("diff") } else { listing };
    listing.without_in_tables(if has_old { "" } else { "old_path" }).dropping("old_path changes")
}

/// Writes a section with the colours of Git.
fn write(out: &mut impl Write, section: &Section, is_coloured: bool) -> io::Result<()> {
    let mut coloured = |line: &str, colour: &str| {
        // A carriage return at the end of a line is a part of the file, and does no harm.
        let (line, end) = line.strip_suffix('\r').map_or((line, ""), |line| (line, "\r"));
        let line = neutralise(line);
        match is_coloured && !colour.is_empty() {
            true => writeln!(out, "\x1b[{colour}m{line}\x1b[m{end}"),
            false => writeln!(out, "{line}{end}"),
        }
    };
    section.head().iter().try_for_each(|line| coloured(line, "1"))?;
    // A line feed divides lines; other ends of lines are a part of them.
    section.body().split_terminator('\n').try_for_each(|line| {
        let colour = match line.as_bytes().first() {
            Some(b'@') => "36",
            Some(b'+') => "32",
            Some(b'-') => "31",
            _ => "",
        };
        coloured(line, colour)
    })
}
