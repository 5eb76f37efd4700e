//! The usage, read directly from the logs.

use std::{
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use foldline::{processor::DEFAULT_MAX_LINE, source::SourceError};
use foldline_database::usage::{SessionUsage, UsageEmitter, count_once, join_companions};
use foldline_render::{human, terminal::neutralise_line};

use crate::{
    error::Error,
    exit,
    files::{self, Found},
    log::Log,
    pipeline,
    program::Program,
    say::say,
    verbs::ingest,
};

/// The precision of the moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exactness {
    /// To a quarter of an hour, as in a database.
    Quarters,
    /// As the log states them.
    Millis,
}

/// The usage that was read.
pub(crate) struct Read {
    pub(crate) sessions: Vec<SessionUsage>,
    failures: Vec<(Found, Error)>,
}

/// Reads the logs at or below the paths, and counts each message once.
pub(crate) fn read(
    program: &Program,
    paths: &[PathBuf],
    exactness: Exactness,
) -> Result<Read, Error> {
    let mut logs = files::logs(program, paths)?;
    logs.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(read_files(program, logs, exactness))
}

/// Reads these logs, and counts each message once, in the session that its log tells of.
pub(crate) fn read_files(program: &Program, logs: Vec<Found>, exactness: Exactness) -> Read {
    let results = in_parallel(&logs, |found| sessions_of(program, found, exactness));
    let (mut read, mut failures) = (Vec::new(), Vec::new());
    for (found, result) in logs.into_iter().zip(results) {
        match result {
            Ok(sessions) => read.push((found.path, sessions)),
            Err(error) => failures.push((found, error)),
        }
    }
    leave_out_copies(program, &mut read);
    let mut sessions: Vec<_> = read.into_iter().flat_map(|(_, sessions)| sessions).collect();
    count_once(&mut sessions);
    Read { sessions: join_companions(sessions), failures }
}

impl Read {
    /// Reports on standard error the files that could not be read, or are not logs. Returns the exit code.
    pub(crate) fn report(&self) -> u8 {
        let mut code = exit::SUCCESS;
        let mut others = Vec::new();
        for (found, error) in &self.failures {
            let is_no_log = error.exit_code() == exit::USAGE
                || matches!(error, Error::Source(SourceError::NotRegular { .. }));
            if is_no_log && !found.is_named {
                others.push(found);
                continue;
            }
            say(&neutralise_line(&error.to_string()));
            code = code.max(error.exit_code());
        }
        if let Some(first) = others.first() {
            let (count, first) = (others.len(), first.path.display());
            say(&neutralise_line(&format!(
                "skipped, since no known agent wrote them: {}, such as {first} (foldline doctor says more)",
                human::number_of(count, "file")
            )));
        }
        code
    }
}

/// Applies a function to every file, with as many threads as there are processors, the largest file first. The
/// results are in the order of the files.
fn in_parallel<T: Send>(files: &[Found], work: impl Fn(&Found) -> T + Sync) -> Vec<T> {
    let mut order: Vec<(usize, u64)> = files
        .iter()
        .map(|found| found.path.metadata().map_or(0, |metadata| metadata.len()))
        .enumerate()
        .collect();
    order.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(files.len()));
    let take = || {
        while let Some((place, _)) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(found) = files.get(*place) else { continue };
            let result = work(found);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((*place, result));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(files.len());
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(take);
        }
        take();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

fn sessions_of(
    program: &Program,
    found: &Found,
    exactness: Exactness,
) -> Result<Vec<SessionUsage>, Error> {
    let openers = program.openers();
    let mut log = match found.is_named {
        true => Log::open(&openers, &found.path)?,
        false => Log::open_regular(&openers, &found.path)?,
    };
    if !found.is_named && found.path.metadata().is_ok_and(|metadata| metadata.len() == 0) {
        return Ok(Vec::new());
    }
    let executor = log.executor(&program.registry, "auto", DEFAULT_MAX_LINE)?;
    let emitter = match exactness {
        Exactness::Quarters => UsageEmitter::default(),
        Exactness::Millis => UsageEmitter::exact(),
    };
    let nothing = |never| match never {};
    let (_, usage) = pipeline::read_whole(&mut log, executor, emitter, DEFAULT_MAX_LINE, nothing)?;
    Ok(usage.into_sessions())
}

/// Removes copies of logs, which contain nothing new. Messages with ids are counted once anyway.
fn leave_out_copies(program: &Program, read: &mut Vec<(PathBuf, Vec<SessionUsage>)>) {
    let has_unnamed = |sessions: &[SessionUsage]| {
        let messages = sessions.iter().flat_map(|session| &session.messages);
        messages.into_iter().any(|message| message.of.message_id.is_none())
    };
    let suspects: Vec<PathBuf> = read
        .iter()
        .filter(|(_, sessions)| has_unnamed(sessions))
        .map(|(path, _)| path.clone())
        .collect();
    let copies = ingest::copies(&suspects, &program.openers());
    read.retain(|(path, _)| !copies.contains(path));
}
