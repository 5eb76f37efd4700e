//! Failed calls and reported errors.

use std::io::{self, Write};

use clap::Args;
use foldline::emitters::terminal::neutralise_line;
use jiff::tz::TimeZone;

use super::sessions::{FAILURES, is_chosen, title};
use crate::answer::{
    AskArgs, Asked, answer,
    listing::{Kind, Listing, Value, short_id},
    print::{Layout, OutputFormat, Printed},
};
use crate::{error::Error, options::EXIT_CODES, program::Program, table::clip};

/// The options of `foldline errors`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ErrorsArgs {
    #[command(flatten)]
    ask: AskArgs,
}

/// `foldline errors`.
pub(crate) fn run(program: &Program, args: &ErrorsArgs) -> Result<u8, Error> {
    answer(program, &args.ask, |asked| Ok(Errors(errors(asked, None)?)))
}

/// Calls that failed and errors that were reported, of one task or of all, the latest first.
pub(super) fn errors(asked: &Asked<'_>, task: Option<&str>) -> Result<Listing, Error> {
    let columns = [
        ("at", Kind::Moment),
        ("task", Kind::Text),
        ("session", Kind::Number),
        ("index", Kind::Number),
        ("tool", Kind::Text),
        ("status", Kind::Id),
        ("exit_code", Kind::Number),
        ("what", Kind::Text),
        ("message", Kind::Text),
        ("title", Kind::Text),
        ("session_id", Kind::Short),
    ];
    let (time, is_chosen) = (asked.within("timestamp"), is_chosen(asked));
    let sql = format!(
        "SELECT timestamp, task, sessions.id, idx, tool_name, status, exit_code,
                iif(type = 'tool_use', content, NULL),
                substr(coalesce(output, reason, iif(type = 'tool_use', NULL, content)), 1, 2000),
                {}, session_id
         FROM entries JOIN sessions ON sessions.id = entries.session
         LEFT JOIN tool_calls ON tool_calls.entry = entries.id
         WHERE entries.id IN (
             SELECT id FROM entries WHERE type = 'error_message'
             UNION ALL SELECT entry FROM tool_calls WHERE {FAILURES}
         ) AND (?1 IS NULL OR task = ?1) AND {time} AND {is_chosen}
         ORDER BY timestamp DESC, entries.id DESC LIMIT ?2",
        title("sessions")
    );
    let mut errors =
        Listing::select(asked.database.connection(), &columns, &sql, (task, asked.rows()))
            .map_err(|error| asked.failed(&error))?;
    let titles = errors.rows.iter_mut().filter_map(|row| row.get_mut(9));
    titles.for_each(Value::keep_first_line);
    Ok(errors.without_in_tables(&["title", "session_id"]))
}

/// Errors as paragraphs: a message needs more room than a table has.
struct Errors(Listing);

impl Printed for Errors {
    fn limit(&mut self, limit: usize) -> bool {
        self.0.limit(limit)
    }

    fn write(&self, out: &mut dyn Write, layout: Layout<'_>) -> io::Result<()> {
        if layout.format != OutputFormat::Table {
            return self.0.write(out, layout);
        }
        if self.0.rows.is_empty() {
            return writeln!(out, "nothing failed");
        }
        self.0.rows.iter().try_for_each(|row| paragraph(out, row, layout.width, layout.zone))
    }
}

/// Lines of a message that are shown.
const LINES: usize = 6;

fn paragraph(out: &mut dyn Write, row: &[Value], width: usize, zone: &TimeZone) -> io::Result<()> {
    let [at, _, number, index, tool, status, exit_code, what, message, title, id] = row else {
        return Ok(());
    };
    let text = |value: &Value| value.shown(Kind::Text, zone);
    let said = match tool {
        Value::Null => "error".to_owned(),
        tool => format!("{} {}", text(tool), text(status)),
    };
    let exit_code = match exit_code {
        Value::Integer(code) if *code != 0 => format!(" (exit {code})"),
        _ => String::new(),
    };
    let session = match id {
        Value::Text(id) => short_id(id),
        _ => text(number),
    };
    let head = format!(
        "{}  {said}{exit_code}  in {session} at {}, {}",
        at.shown(Kind::Moment, zone),
        text(index),
        text(title)
    );
    writeln!(out, "{}", clip(neutralise_line(&head).trim_end(), width))?;
    let lines = |value: &Value, most| {
        let value = text(value);
        let lines = value.lines().filter(|line| !line.trim().is_empty()).take(most);
        lines.map(|line| neutralise_line(line).into_owned()).collect::<Vec<_>>()
    };
    for line in lines(what, 1).into_iter().chain(lines(message, LINES)) {
        writeln!(out, "    {}", clip(&line, width.saturating_sub(4)))?;
    }
    writeln!(out)
}
