//! The summary of an ingest.

use std::{
    fmt,
    io::{self, Write},
    path::{Path, PathBuf},
};

use foldline::{
    emitters::{human::number_of, sqlite::Totals, terminal::neutralise_line},
    executors::Format,
    ledger::Receipt,
};

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

    /// The failed files, with the reasons.
    pub(super) fn into_failed(self) -> Vec<(PathBuf, String)> {
        self.failed
    }

    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
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

    pub(super) fn print(&self, out: &mut dyn Write, totals: Totals) -> io::Result<()> {
        let Self { new, grown, again, moved, unchanged, .. } = self;
        let read = new + grown + again;
        write!(out, "files: {read} read ({new} new, {grown} grown")?;
        if *again > 0 {
            write!(out, ", {again} read again from the beginning")?;
        }
        write!(out, ")")?;
        if *moved > 0 {
            write!(out, ", {moved} moved")?;
        }
        let (skipped, failed) = (self.skipped.len(), self.failed.len());
        writeln!(out, ", {unchanged} unchanged, {skipped} skipped, {failed} failed")?;
        let Receipt { sessions, entries, calls, warnings } = self.receipt;
        writeln!(
            out,
            "added: {}, {}, {}, {}",
            number_of(sessions, "session"),
            number_of(entries, "entry"),
            number_of(calls, "tool call"),
            number_of(warnings, "warning")
        )?;
        let Totals { sources, sessions, entries, .. } = totals;
        let (sources, sessions) = (number_of(sources, "file"), number_of(sessions, "session"));
        writeln!(out, "now:   {sources}, {sessions}, {}", number_of(entries, "entry"))?;
        if self.other_task > 0 {
            let count = self.other_task;
            writeln!(
                out,
                "sessions keep their task, which is another than --task, in files: {count} (foldline task set changes it)"
            )?;
        }
        if self.mid_line > 0 {
            let mid_line = self.mid_line;
            writeln!(out, "ending in the middle of a line, which is left for later: {mid_line}")?;
        }
        for note in &self.notes {
            writeln!(out, "{}", neutralise_line(note))?;
        }
        self.print_skipped(out)?;
        for (path, message) in &self.failed {
            writeln!(out, "failed: {}: {message}", Visible(path))?;
        }
        Ok(())
    }

    fn print_skipped(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut skipped: Vec<_> = self.skipped.iter().collect();
        skipped.sort_by(|a, b| (&a.1, &a.0).cmp(&(&b.1, &b.0)));
        for same in skipped.chunk_by(|a, b| a.1 == b.1) {
            let Some((_, why)) = same.first() else { continue };
            let files = if same.len() == 1 { "file" } else { "files" };
            writeln!(out, "skipped, {why}: {} {files}", same.len())?;
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
