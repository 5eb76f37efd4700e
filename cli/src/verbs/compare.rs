//! `foldline compare`: two sessions side by side, each with its sub-agents.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use foldline_database::{
    Store,
    query::{SessionFilter, SessionName, SessionRow},
};

use crate::{
    answer::{AskArgs, Asked, Kind, Listing, OutputFormat, Value, answer, find},
    error::Error,
    program::Program,
};

/// The options of `foldline compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Session: latest, latest~2, an id or its first characters, a number, or a part of a title
    a: String,

    /// The other session
    b: String,

    #[command(flatten)]
    ask: AskArgs,
}

/// `foldline compare`.
pub(crate) fn run(program: &Program, args: &CompareArgs) -> Result<u8, Error> {
    answer(program, &args.ask, |asked| {
        let side = |name: &str| Side::new(asked, name);
        let (a, b) = (side(&args.a)?, side(&args.b)?);
        let mut listing = Listing::new(&[
            ("fact", Kind::Id),
            ("of", Kind::Path),
            ("a", Kind::Text),
            ("b", Kind::Text),
        ]);
        let shown = |kind: Kind, value: Value, side: &Side| match asked.print.format {
            // The rows of a column differ in kind.
            OutputFormat::Table => {
                let basis = side.row.cost_basis.as_deref();
                let is_about = kind == Kind::Money && basis.is_some_and(|basis| basis != "logged");
                let about = if is_about { "≈" } else { "" };
                Value::Text(format!("{about}{}", value.shown(kind, &asked.filters.zone())))
            }
            _ => value.exact(kind),
        };
        let rows = facts(&a, &b).into_iter().chain(tools(&a, &b)).chain(files(&a, &b));
        listing.rows.extend(rows.map(|Row { fact, of, kind, sides: [one, other] }| {
            let of = of.map_or(Value::Null, Value::Text);
            vec![fact.into(), of, shown(kind, one, &a), shown(kind, other, &b)]
        }));
        Ok(listing)
    })
}

/// A session, with all of its parts.
struct Side {
    row: SessionRow,
    tools: BTreeMap<String, i64>,
    /// The changed files, with the kinds of change.
    files: BTreeMap<String, String>,
}

impl Side {
    fn new(asked: &Asked<'_>, name: &str) -> Result<Self, Error> {
        let database: &dyn Store = &*asked.database;
        let number = find::session(database, name, asked.filters)?;
        let row = database.session_row(number)?.ok_or(Error::NoSession)?;
        // A part is compared alone, as its row is.
        let name = match row.whole {
            None => SessionName::TreeOf(number),
            Some(_) => SessionName::from(number),
        };
        let filter = SessionFilter { name: Some(name), ..SessionFilter::default() };
        let tools = database.tools(&filter)?.into_iter().map(|tool| (tool.tool, tool.calls));
        let files =
            database.files(&filter, true)?.into_iter().map(|file| (file.path, file.changes));
        Ok(Self { row, tools: tools.collect(), files: files.collect() })
    }
}

/// A fact of both sessions.
struct Row {
    fact: &'static str,
    /// The tool or the file that it is about.
    of: Option<String>,
    kind: Kind,
    sides: [Value; 2],
}

fn facts(a: &Side, b: &Side) -> Vec<Row> {
    fn text(text: Option<&String>) -> Value {
        text.map_or(Value::Null, |text| text.as_str().into())
    }
    type Fact = (&'static str, Kind, fn(&Side) -> Value);
    const FACTS: [Fact; 16] = [
        ("session", Kind::Short, |side| text(side.row.session.as_ref())),
        ("title", Kind::Text, |side| text(side.row.title.as_ref())),
        ("agent", Kind::Text, |side| text(side.row.agent.as_ref())),
        ("model", Kind::Text, |side| text(side.row.model.as_ref())),
        ("outcome", Kind::Text, |side| text(side.row.outcome.as_ref())),
        ("began", Kind::Minute, |side| side.row.began.into()),
        ("duration_ms", Kind::Duration, |side| side.row.duration_ms.into()),
        ("active_ms", Kind::Duration, |side| side.row.active_ms.into()),
        ("turns", Kind::Number, |side| side.row.turns.into()),
        ("entries", Kind::Number, |side| Value::Integer(side.row.entries)),
        ("agents", Kind::Number, |side| Value::Integer(side.row.agents)),
        ("input_tokens", Kind::Tokens, |side| side.row.input_tokens.into()),
        ("output_tokens", Kind::Tokens, |side| side.row.output_tokens.into()),
        ("cost_usd", Kind::Money, |side| side.row.cost_usd.map_or(Value::Null, Value::Real)),
        ("cost_basis", Kind::Text, |side| text(side.row.cost_basis.as_ref())),
        ("failures", Kind::Number, |side| Value::Integer(side.row.failures)),
    ];
    let facts = FACTS.map(|(fact, kind, of)| Row { fact, of: None, kind, sides: [of(a), of(b)] });
    facts.into()
}

/// The calls of all tools, and those of each.
fn tools(a: &Side, b: &Side) -> Vec<Row> {
    let row = |of, [a, b]: [i64; 2]| Row {
        fact: "calls",
        of,
        kind: Kind::Number,
        sides: [Value::Integer(a), Value::Integer(b)],
    };
    let names: BTreeSet<_> = a.tools.keys().chain(b.tools.keys()).collect();
    let calls = |side: &Side, tool: &String| side.tools.get(tool).copied().unwrap_or(0);
    let each =
        names.into_iter().map(|tool| row(Some(tool.clone()), [calls(a, tool), calls(b, tool)]));
    std::iter::once(row(None, [a.row.calls, b.row.calls])).chain(each).collect()
}

/// The changed files: those of the first session only, those of the other one only, and those of both.
fn files(a: &Side, b: &Side) -> Vec<Row> {
    let paths: BTreeSet<_> = a.files.keys().chain(b.files.keys()).collect();
    let value = |text: Option<&String>| text.map_or(Value::Null, |text| text.as_str().into());
    let mut rows: Vec<_> = paths
        .into_iter()
        .map(|path| {
            let sides = [a.files.get(path), b.files.get(path)];
            let fact = match sides {
                [Some(_), None] => "changed_only_in_a",
                [None, _] => "changed_only_in_b",
                [Some(_), Some(_)] => "changed_in_both",
            };
            Row { fact, of: Some(path.clone()), kind: Kind::Text, sides: sides.map(value) }
        })
        .collect();
    let place = |fact| ["changed_only_in_a", "changed_only_in_b"].iter().position(|it| *it == fact);
    rows.sort_by_key(|row| place(row.fact).unwrap_or(usize::MAX));
    rows
}
