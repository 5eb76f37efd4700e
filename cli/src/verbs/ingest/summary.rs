//! The summary of an ingest.

use std::{
    fmt,
    io::{self, Write},
    path::{Path, PathBuf},
};

use foldline::ledger::Receipt;
use foldline_agents::Format;
use foldline_database::query::Totals;
use foldline_render::{human::number_of, terminal::neutralise_line};

use crate::{exit, finder::is_log_name, say::say, wrap::wrap_lines};

/// Counts of an ingest.
#[derive(Default)]
pub(super) struct Summary {
    /// Files that were new.
    pub(super) new: u64,
    /// Files that had grown, or were completed.
    pub(super) grown: u64,
    /// Files that were read again from their beginning.
    pub(super) again: u64,
    /// Files with a changed path.
    pub(super) moved: u64,
    /// Files without new content.
    pub(super) unchanged: u64,
    /// Files whose sessions keep a task other than the given one.
    pub(super) other_task: u64,
    /// Files that end in the middle of a line.
    pub(super) mid_line: u64,
    /// The added rows.
    pub(super) receipt: Receipt,
    /// Further messages.
    notes: Vec<String>,
    skipped: Vec<(PathBuf, Skipped)>,
    failed: Vec<(PathBuf, String)>,
}

/// The reason for skipping a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Skipped {
    /// Not the log of a known agent.
    Unrecognised,
    /// The log of a known agent without an executor.
    Unsupported(&'static Format),
    /// It is empty.
    Empty,
    /// It is a pipe or a device.
    NoFile,
    /// A link whose target does not exist.
    BrokenLink,
    /// Another name of a file that was found before.
    OtherName {
        /// The earlier name of the file.
        of: PathBuf,
    },
    /// This command writes it.
    Output,
    /// A copy of another file, or of its beginning.
    Copy {
        /// The other file.
        original: PathBuf,
    },
    /// Its sessions were removed for good.
    Forgotten,
}

impl Skipped {
    /// Whether no executor reads the file.
    fn is_other(&self) -> bool {
        matches!(self, Self::Unrecognised | Self::Unsupported(_))
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unrecognised => f.write_str("not the log of a known agent"),
            Self::Unsupported(format) => {
                write!(f, "{}, which is not supported yet", format.title)
            }
            Self::Empty => f.write_str("empty"),
            Self::NoFile => f.write_str("not a file"),
            Self::BrokenLink => f.write_str("a link without a target"),
            Self::OtherName { of } => write!(f, "another name of {}", of.display()),
            Self::Output => f.write_str("written by this command"),
            Self::Forgotten => f.write_str("forgotten"),
            Self::Copy { original } => write!(f, "a copy of {}", original.display()),
        }
    }
}

/// The number of files listed for each reason.
const NAMED: usize = 5;

impl Summary {
    pub(super) fn skip(&mut self, path: &Path, why: Skipped) {
        self.skipped.push((path.to_owned(), why));
    }

    pub(super) fn fail(&mut self, path: &Path, message: String) {
        self.failed.push((path.to_owned(), message));
    }

    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// The number of files below a folder of an agent that have the name of a log, and are none that is understood.
    pub(super) fn unread_in(&self, folder: &Path, format: &Format) -> usize {
        let may_be_log = |path: &Path| {
            path.starts_with(folder)
                && is_log_name(path)
                && !format.no_logs.iter().any(|name| path.ends_with(name))
        };
        self.skipped.iter().filter(|(path, why)| why.is_other() && may_be_log(path)).count()
    }

    /// Whether there was no file at all.
    pub(super) fn found_nothing(&self) -> bool {
        let Self { new, grown, again, moved, unchanged, .. } = self;
        new + grown + again + moved + unchanged == 0
            && self.skipped.is_empty()
            && self.failed.is_empty()
    }

    pub(super) fn has_failures(&self) -> bool {
        !self.failed.is_empty()
    }

    /// The notes, and which files could not be read.
    pub(super) fn messages(&self) -> impl Iterator<Item = String> {
        let failed = self.failed.iter().map(|(path, why)| format!("{}: {why}", Visible(path)));
        self.notes.iter().map(|note| neutralise_line(note).into_owned()).chain(failed)
    }

    /// Reports on standard error which logs could not be read. Returns the exit code of an answer, which may lack them.
    pub(super) fn report_failures(&self) -> u8 {
        for (path, message) in self.failed.iter().take(NAMED) {
            say(&format!("{}: {message}", Visible(path)));
        }
        if self.failed.len() > NAMED {
            let more = number_of(self.failed.len() - NAMED, "file");
            say(&format!("{more} more could not be read; foldline ingest lists them"));
        }
        if self.failed.is_empty() { exit::SUCCESS } else { exit::FAILED }
    }

    /// Reports on standard error which files are no logs.
    pub(super) fn report_others(&self) {
        let others: Vec<_> = self.skipped.iter().filter(|(_, why)| why.is_other()).collect();
        if let Some((first, _)) = others.first() {
            let (count, first) = (number_of(others.len(), "file"), Visible(first));
            say(&format!(
                "skipped, since no known agent wrote them: {count}, such as {first} (foldline doctor says more)"
            ));
        }
    }

    /// Prints the summary. Paths are printed whole, so that they can be copied.
    pub(super) fn print(
        &self,
        out: &mut dyn Write,
        totals: Totals,
        width: usize,
    ) -> io::Result<()> {
        write!(out, "{}", wrap_lines(&self.counts(totals), width))?;
        self.print_skipped(out)?;
        for (path, message) in &self.failed {
            writeln!(out, "failed: {}: {message}", Visible(path))?;
        }
        Ok(())
    }

    /// The counts, and the notes about them.
    fn counts(&self, totals: Totals) -> String {
        let Self { new, grown, again, moved, unchanged, other_task, mid_line, .. } = self;
        let mut counts = format!("files: {} read ({new} new, {grown} grown", new + grown + again);
        if *again > 0 {
            counts += &format!(", {again} read again from the beginning");
        }
        counts += ")";
        if *moved > 0 {
            counts += &format!(", {moved} moved");
        }
        let (skipped, failed) = (self.skipped.len(), self.failed.len());
        counts += &format!(", {unchanged} unchanged, {skipped} skipped, {failed} failed\n");
        let Receipt { sessions, entries, calls, warnings } = self.receipt;
        let added = [
            (sessions, "session"),
            (entries, "entry"),
            (calls, "tool call"),
            (warnings, "warning"),
        ];
        counts += &format!("added: {}\n", added.map(|(n, thing)| number_of(n, thing)).join(", "));
        let Totals { sources, sessions, entries, .. } = totals;
        let now = [(sources, "file"), (sessions, "session"), (entries, "entry")];
        counts += &format!("now:   {}\n", now.map(|(n, thing)| number_of(n, thing)).join(", "));
        if *other_task > 0 {
            let files = number_of(*other_task, "file");
            counts += &format!(
                "sessions keep their task, which is not that of --task, in {files} (foldline task set \
                 changes it)\n"
            );
        }
        if *mid_line > 0 {
            let files = number_of(*mid_line, "file");
            counts += &format!(
                "in the middle of a line: the end of {files}, which is read when the line is complete\n"
            );
        }
        for note in &self.notes {
            counts += &neutralise_line(note);
            counts.push('\n');
        }
        counts
    }

    fn print_skipped(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut skipped: Vec<_> = self.skipped.iter().collect();
        skipped.sort_by(|a, b| (&a.1, &a.0).cmp(&(&b.1, &b.0)));
        for same in skipped.chunk_by(|a, b| a.1 == b.1) {
            let Some((_, why)) = same.first() else { continue };
            writeln!(out, "skipped, {why}: {}", number_of(same.len(), "file"))?;
            for (path, _) in same.iter().take(NAMED) {
                writeln!(out, "  {}", Visible(path))?;
            }
            if same.len() > NAMED {
                writeln!(out, "  and {} more", same.len() - NAMED)?;
            }
        }
        Ok(())
    }
}

/// A path with neutralised control characters.
struct Visible<'p>(&'p Path);

impl fmt::Display for Visible<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&neutralise_line(&self.0.to_string_lossy()))
    }
}
