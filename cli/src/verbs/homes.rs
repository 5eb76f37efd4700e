//! `foldline homes`: the folders of agents on this machine, and their logs.

use std::{
    collections::{BTreeMap, HashSet},
    io::{self, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

use foldline_agents::Format;
use foldline_render::{human, terminal::neutralise_line};
use jiff::{Timestamp, Unit, Zoned};

use crate::{
    answer::note,
    error::Error,
    exit, finder,
    homes::{existing, homes, name, names, tilde, unread},
    options::width,
    program::Program,
    say::say,
    table::{Clip, Layout, Need, Table},
    verbs::keep,
    wrap::{JOINT, wrap},
};

/// The logs in one folder.
#[derive(Default)]
struct Logs {
    count: u64,
    bytes: u64,
    newest: Option<SystemTime>,
}

/// `foldline homes`.
pub(crate) fn run(program: &Program) -> Result<u8, Error> {
    let mut out = io::stdout().lock();
    let (found, failed) = look(program);
    print(program, &found, &mut out).and_then(|()| out.flush()).map_err(Error::Output)?;
    for home in unread(&program.registry) {
        let (agent, folder) = (agent(home.format), tilde(&home.folder));
        say(&format!("{agent} keeps sessions in {folder}, which are not read yet"));
    }
    for (path, why) in &failed {
        say(&neutralise_line(&format!("{}: {why}", path.display())));
    }
    Ok(if failed.is_empty() { exit::SUCCESS } else { exit::FAILED })
}

type Homes = BTreeMap<(String, &'static Format), Logs>;

/// The logs of each home, and what could not be read.
fn look(program: &Program) -> (Homes, Vec<(PathBuf, String)>) {
    let (mut found, mut failed) = (Homes::new(), Vec::new());
    let all = homes(&program.registry);
    for home in existing(&program.registry) {
        let logs = found.entry((name(&all, &home.folder), home.format)).or_default();
        let search = finder::find(&program.registry, std::slice::from_ref(&home.folder), false);
        failed.extend(search.failed);
        let ending = home.format.companion;
        let beside = |file: &PathBuf| finder::companion(file, ending?);
        let companions: HashSet<_> = search.files.iter().filter_map(beside).collect();
        let is_none = |file: &Path| home.format.no_logs.iter().any(|name| file.ends_with(name));
        for file in search.files.iter().filter(|file| finder::is_log_name(file) && !is_none(file)) {
            // A file that was deleted meanwhile is ignored.
            let Ok(metadata) = file.metadata() else { continue };
            // A file next to a log is a part of it.
            logs.count += u64::from(!companions.contains(file));
            logs.bytes += metadata.len();
            logs.newest = logs.newest.max(metadata.modified().ok());
        }
    }
    (found, failed)
}

fn print(program: &Program, found: &Homes, out: &mut dyn Write) -> io::Result<()> {
    if found.values().all(|logs| logs.count == 0) {
        let searched = names(&homes(&program.registry));
        let searched = format!("No logs of coding agents were found. Searched: {searched}.");
        return writeln!(
            out,
            "{}\n\n\
             A log:            foldline show PATH\n\
             A folder:         foldline ingest PATH\n\
             Everything else:  foldline --help",
            wrap(&searched, width(None), 0)
        );
    }
    let mut columns = ["agent", "logs", "size", "newest", "folder"].to_vec();
    let layout = |right, clip| Layout { right, clip };
    let layouts = vec![
        layout(false, Clip::Late),
        layout(true, Clip::Never),
        layout(true, Clip::Never),
        layout(false, Clip::Never),
        layout(false, Clip::Early),
    ];
    let rows: Vec<Vec<String>> = found
        .iter()
        .filter(|(_, logs)| logs.count > 0)
        .map(|((folder, format), logs)| {
            let newest = logs.newest.and_then(|newest| Timestamp::try_from(newest).ok());
            vec![
                agent(format).to_owned(),
                logs.count.to_string(),
                indicatif::HumanBytes(logs.bytes).to_string(),
                newest.map(age).unwrap_or_default(),
                folder.clone(),
            ]
        })
        .collect();
    let headings = columns.iter().map(|&heading| heading.to_owned()).collect();
    let table = Table { headings, layouts, rows };
    let (width, is_coloured) = (width(None), program.terminal.is_coloured());
    let hidden = table.write(out, (width, is_coloured), |need| {
        let next = ["size", "folder", "newest", "logs"];
        let at = next.iter().find_map(|next| columns.iter().position(|column| column == next));
        let at = at.or(columns.len().checked_sub(1)).filter(|_| need == Need::Room)?;
        columns.remove(at);
        Some(at)
    })?;
    if let Some(hidden) = hidden {
        let needed = hidden.width;
        let text = format!("{hidden} (shown{JOINT}from{JOINT}{needed}{JOINT}columns)");
        note(out, &text, (width, is_coloured))?;
    }
    if let Some(days) = keep::claude_days(&program.registry) {
        let days = human::number_of(days, "day");
        let said =
            format!("Claude Code deletes logs after {days}; `foldline keep on` keeps copies.");
        writeln!(out, "\n{}", wrap(&said, width, 0))?;
    }
    Ok(())
}

/// The human-readable agent of a format: its title up to the comma.
fn agent(format: &Format) -> &'static str {
    format.title.split(',').next().unwrap_or(format.title)
}

/// The age of a moment.
fn age(moment: Timestamp) -> String {
    let now = Zoned::now().timestamp();
    let seconds = now.since((Unit::Second, moment)).map_or(0, |span| span.get_seconds());
    let number = |n: i64, unit: &str| format!("{n} {unit}{} ago", if n == 1 { "" } else { "s" });
    match seconds {
        ..60 => "now".to_owned(),
        60..3600 => number(seconds / 60, "minute"),
        3600..86_400 => number(seconds / 3600, "hour"),
        _ => number(seconds / 86_400, "day"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_named_by_its_title() {
        let format = foldline_agents::Registry::builtin();
        let named = format.named("claude-session").map(|executor| agent(executor.format()));
        assert_eq!(named, Some("Claude Code"));
    }
}
