//! [`DoctorSummary`]: what was understood of all logs, by agent and version, to be pasted into a report.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    io::{self, Write},
};

use foldline_agents::{Format, Ignored};
use foldline_domain::{WarningKind, drift::SchemaDrift};
use foldline_render::terminal::neutralise_line;

use crate::{
    answer::note,
    options::width,
    table::{Clip, Layout, Need, Table, clip},
    wrap::wrap,
};

/// The number of findings that are named.
const MOST_FINDINGS: usize = 30;

/// The counts of the logs of one format and one version of its agent.
#[derive(Default)]
struct Row {
    logs: u64,
    records: u64,
    ignored: u64,
    findings: u64,
    /// It is newer than the newest that was tested.
    is_newer: bool,
}

/// The counts of all logs.
#[derive(Default)]
pub(super) struct DoctorSummary {
    rows: BTreeMap<(&'static str, Option<String>), Row>,
    findings: BTreeMap<(WarningKind, String), u64>,
}

impl DoctorSummary {
    /// Adds a log.
    pub(super) fn add(
        &mut self,
        format: &'static Format,
        drift: &SchemaDrift,
        records: u64,
        ignored: &Ignored,
    ) {
        let version = drift.session().version.as_ref();
        let version = version.map(|version| version.decode().into_owned());
        let is_newer = version.as_deref().is_some_and(|version| format.is_newer(version));
        let row = self.rows.entry((format.name, version)).or_default();
        row.logs += 1;
        row.records += records;
        row.ignored += ignored.count();
        row.is_newer = is_newer;
        for (kind, subject, finding) in drift.findings() {
            row.findings += finding.count;
            *self.findings.entry((kind, subject.to_owned())).or_default() += finding.count;
        }
    }

    /// Prints the counts, and the most frequent findings. Neither has any content of a log.
    pub(super) fn print(&self, out: &mut dyn Write, is_coloured: bool) -> io::Result<()> {
        let mut columns = ["format", "version", "logs", "records", "ignored", "findings"].to_vec();
        let layout = |right| Layout { right, clip: Clip::Late };
        let layouts = columns.iter().enumerate().map(|(at, _)| layout(at > 1)).collect();
        let headings = columns.iter().map(|&heading| heading.to_owned()).collect();
        let rows = self.rows.iter().map(|((format, version), row)| {
            let version = version.as_deref().unwrap_or("not stated");
            let newer = if row.is_newer { " (newer)" } else { "" };
            let counts = [row.logs, row.records, row.ignored, row.findings];
            let version = format!("{}{newer}", clip(&neutralise_line(version), 40));
            let names = [(*format).to_owned(), version];
            names.into_iter().chain(counts.map(|count| count.to_string())).collect()
        });
        let table = Table { headings, layouts, rows: rows.collect() };
        let hidden = table.write(out, (width(None), is_coloured), |need| {
            if need == Need::Room { columns.pop().map(|_| columns.len()) } else { None }
        })?;
        if let Some(hidden) = hidden {
            note(out, &hidden.to_string(), (width(None), is_coloured))?;
        }
        if self.rows.values().any(|row| row.is_newer) {
            let what =
                "newer: than the newest version that was tested; a report of its findings helps";
            writeln!(out, "\n{}", wrap(what, width(None), 0))?;
        }
        let mut findings: Vec<_> = self.findings.iter().collect();
        findings.sort_by_key(|(_, count)| Reverse(**count));
        for (at, ((kind, subject), count)) in findings.iter().take(MOST_FINDINGS).enumerate() {
            let begin = if at == 0 { "\n" } else { "" };
            let what = format!("{count:>7}×  {} {subject}", label(*kind));
            writeln!(
                out,
                "{begin}{}",
                clip(neutralise_line(what.trim_end()).as_ref(), width(None))
            )?;
        }
        if findings.len() > MOST_FINDINGS {
            writeln!(out, "{:>8}  and {} more", "", findings.len() - MOST_FINDINGS)?;
        }
        Ok(())
    }
}

/// A kind of warning in words.
pub(super) fn label(kind: WarningKind) -> String {
    kind.as_str().replace('_', " ")
}
