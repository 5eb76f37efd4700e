//! `foldline check`: whether a database is sound, and whether its audit trail fits it.

mod trail;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use foldline_database::{
    query::Totals,
    sqlite::{Database, Finding, SqliteError},
};
use foldline_render::{human, terminal::neutralise_line};

use crate::{
    distinct::DistinctFiles, error::Error, exit, homes::DatabaseOption, options::sentence_width,
    wrap::wrap_lines,
};

const NOTE: &str = "\
Without --repair, nothing is written. A repair rebuilds everything that is derived from the rows: the indices, the \
search index, the numbers of entries. Rows with a wrong checksum are kept and listed.";

/// The options of `foldline check`.
#[derive(Debug, Args)]
#[command(after_help = NOTE)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    database: DatabaseOption,

    /// Rebuild everything that is derived from the rows, if there is a problem; needs as much free disk space as the
    /// database
    #[arg(long)]
    repair: bool,

    /// Audit trail to verify and to compare with the database
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,

    /// Seconds to wait while another program writes to the database
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    wait: u32,
}

/// The checked parts, and the problems.
#[derive(Default)]
struct Report {
    checked: Vec<String>,
    problems: Vec<String>,
    /// Whether all problems are in data that can be rebuilt.
    is_derived: bool,
    /// The contents of the database.
    holds: String,
}

pub(crate) fn run(args: &CheckArgs) -> Result<u8, Error> {
    let mut files = DistinctFiles::default();
    let db = args.database.path()?;
    files.database(&db)?;
    if let Some(audit) = &args.audit {
        files.input("the audit trail", audit)?;
    }
    files.stdout()?;
    files.stderr()?;
    let wait = Duration::from_secs(args.wait.into());
    let mut out = io::stdout().lock();
    let mut report = examine(&db, args.audit.as_deref(), wait)?;
    let width = sentence_width();
    let mut print =
        |text: &str| out.write_all(wrap_lines(text, width).as_bytes()).map_err(Error::Output);
    print(&report.checked_text())?;
    if args.repair && !report.problems.is_empty() {
        print(&report.problems_text())?;
        repair(&db, wait)?;
        print("rebuilt: the indices, the search index, the numbers of entries")?;
        report = examine(&db, args.audit.as_deref(), wait)?;
    }
    print(&report.problems_text())?;
    print(&report.conclusion(args.repair))?;
    Ok(if report.problems.is_empty() { exit::SUCCESS } else { exit::FAILED })
}

fn examine(db: &Path, audit: Option<&Path>, wait: Duration) -> Result<Report, Error> {
    let mut database = Database::open_as_it_is(db, wait)?;
    let mut report = Report::default();
    let mut findings = database.check()?;
    report.checked.push(
        "the schema, the pages and the indices, references between rows, the checksums of the rows, the \
         numbers of entries, the positions of the sources"
            .to_owned(),
    );
    match database.check_search() {
        Ok(found) => {
            findings.extend(found);
            report.checked.push("the search index, compared with the entries".to_owned());
        }
        Err(SqliteError::ReadOnly(_)) => report
            .checked
            .push("not the search index, since that needs a writable database".to_owned()),
        Err(error) => return Err(error.into()),
    }
    if findings.is_empty() {
        let Totals { sources, sessions, entries, .. } = database.totals()?;
        report.holds = [(sources, "source"), (sessions, "session"), (entries, "entry")]
            .map(|(count, thing)| human::number_of(count, thing))
            .join(", ");
    }
    report.is_derived = findings.iter().all(|finding| finding.is_derived);
    report.problems.extend(findings.into_iter().map(|Finding { message, .. }| message));
    if let Some(path) = audit {
        match trail::check(&database, path)? {
            Ok(checked) => report.checked.push(checked),
            Err(problem) => {
                report.is_derived = false;
                report.problems.push(format!("the audit trail {}: {problem}", path.display()));
            }
        }
    }
    database.confirm()?;
    Ok(report)
}

fn repair(db: &Path, wait: Duration) -> Result<(), Error> {
    let mut database = Database::open(db, wait)?;
    if database.repair()?.is_empty() {
        database.close()?;
    }
    Ok(())
}

impl Report {
    fn checked_text(&self) -> String {
        lines("checked", &self.checked)
    }

    fn problems_text(&self) -> String {
        lines("wrong", &self.problems)
    }

    /// The conclusion, and what to do.
    fn conclusion(&self, is_repaired: bool) -> String {
        if self.problems.is_empty() {
            return format!("sound: {}\n", self.holds);
        }
        let mut conclusion = String::new();
        if !is_repaired {
            conclusion += match self.is_derived {
                true => "The rows themselves are sound. ",
                false => "Some of it may be in data that is derived from the rows. ",
            };
            conclusion += "Run `foldline check --repair`, which rebuilds everything that is derived from the rows.\n";
        }
        if is_repaired || !self.is_derived {
            conclusion += "Nothing can be added to a database with wrong rows. Restore an earlier copy of it, or \
                           ingest the logs into a new database. Keep this one until then: tasks that were set by \
                           hand, and sessions whose logs were deleted, are only in it.\n";
        }
        conclusion
    }
}

/// A damaged database may contain any text.
fn lines(name: &str, texts: &[String]) -> String {
    texts.iter().map(|text| format!("{name}: {}\n", neutralise_line(text))).collect()
}
