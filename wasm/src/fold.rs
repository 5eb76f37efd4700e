//! [`Fold`]: a log, from its bytes to the outputs.

use std::{
    collections::BTreeMap,
    mem,
    path::{Path, PathBuf},
};

use foldline::{
    processor::{Finished, Processor},
    transduce::Transducer,
};
use foldline_agents::{AnyState, DynExecutor, Records, Registry, Sessions, SessionsState};
use jiff::tz::TimeZone;
use serde::Deserialize;

use crate::{
    outputs::{Outputs, Shown},
    recognition::Recognition,
};

/// A log, and the outputs that are made of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The name of the format; else it is recognised.
    pub format: Option<String>,
    /// The path of the log, which may state facts about its session. It is not opened.
    pub path: PathBuf,
    /// The texts of files near the log, by their paths: they may state facts about its session.
    pub siblings: BTreeMap<PathBuf, String>,
    /// The outputs.
    pub outputs: Shown,
    /// The name of the time zone of pages; else UTC.
    pub zone: Option<String>,
}

/// A log cannot be folded. Damage within a log is not an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The options cannot be read.
    #[error("the options are wrong: {0}")]
    Options(String),
    /// There is no format of this name.
    #[error("unknown format: {0}")]
    UnknownFormat(String),
    /// There is no time zone of this name.
    #[error("unknown time zone: {0}")]
    UnknownZone(String),
    /// The log is empty.
    #[error("the log is empty")]
    Empty,
    /// The file is of a kind that is not read here.
    #[error("the log is {0}, which is not read here")]
    Foreign(&'static str),
    /// The format is not recognised; these are known.
    #[error("the format is not recognised; known formats: {0}")]
    Unrecognised(String),
    /// Several formats have such records.
    #[error("the format is ambiguous; name one of {0}")]
    Disputed(String),
    /// The log has ended.
    #[error("the log has ended")]
    Ended,
}

/// Folds a log, which is pushed in chunks.
#[derive(Debug)]
pub struct Fold {
    options: Options,
    registry: Registry,
    stage: Stage,
}

type LogProcessor = Processor<Sessions<DynExecutor>, SessionsState<AnyState>, Outputs, Records>;

#[derive(Debug)]
enum Stage {
    /// The format is not known yet.
    Recognising(Box<Recognition>),
    /// A file that may be one document, which is read as a whole.
    Whole(Vec<u8>),
    Reading(Box<LogProcessor>),
    Ended(Box<Outputs>),
    /// After an error.
    Failed,
}

impl Fold {
    /// A fold at the beginning of a log.
    ///
    /// # Errors
    /// The named format or time zone is unknown.
    pub fn new(options: Options) -> Result<Self, Error> {
        let registry = Registry::builtin();
        zone(&options)?;
        let mut stage = begin(&options, &registry)?;
        if options.path.extension().is_some_and(|ending| ending == "json") {
            stage = Stage::Whole(Vec::new());
        }
        Ok(Self { options, registry, stage })
    }

    /// Adds bytes of the log, and returns the patches that result: lines of JSON in UTF-8. Chunks may have any length.
    ///
    /// # Errors
    /// The format is not recognised, or the log has ended.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        self.take(bytes, false)?;
        let Stage::Reading(processor) = &mut self.stage else { return Ok(Vec::new()) };
        Ok(processor.emitter_mut().take_lines())
    }

    /// Ends the log, and returns the remaining patches.
    ///
    /// # Errors
    /// The format is not recognised, or the log has ended.
    pub fn finish(&mut self) -> Result<Vec<u8>, Error> {
        if let Stage::Whole(content) = &mut self.stage {
            let content = mem::take(content);
            let path = &self.options.path;
            let lines = {
                let mut openers = self.registry.iter().flat_map(DynExecutor::openers);
                openers.find_map(|opener| opener.lines(path, &content))
            };
            self.stage = begin(&self.options, &self.registry)?;
            self.take(&lines.unwrap_or(content), false)?;
        }
        self.take(&[], true)?;
        let Stage::Reading(processor) = mem::replace(&mut self.stage, Stage::Failed) else {
            return Err(Error::Ended);
        };
        let Finished { emitter: mut outputs, .. } = processor.finish(|never| match never {});
        let lines = outputs.take_lines();
        self.stage = Stage::Ended(Box::new(outputs));
        Ok(lines)
    }

    /// The documents of the sessions so far, as a JSON array.
    pub fn conversations(&self) -> Vec<u8> {
        let conversations: Vec<_> =
            self.outputs().into_iter().flat_map(Outputs::conversations).collect();
        // Documents always have a JSON form.
        foldline_json::to_string(&conversations).unwrap_or_default().into_bytes()
    }

    /// The number of sessions so far, if documents or pages are made.
    pub fn sessions(&self) -> usize {
        self.outputs().map_or(0, Outputs::sessions)
    }

    /// The page of a session, counted from 0, as HTML. `None` if there is no such session.
    pub fn page(&self, session: usize) -> Option<String> {
        Some(self.outputs()?.page(session)?.render())
    }

    /// Reduces bytes, or holds them until the format is known.
    fn take(&mut self, bytes: &[u8], is_end: bool) -> Result<(), Error> {
        let recognition = match &mut self.stage {
            Stage::Recognising(recognition) => recognition,
            Stage::Whole(content) => {
                content.extend_from_slice(bytes);
                return Ok(());
            }
            Stage::Reading(processor) => {
                processor.push(bytes, |never| match never {});
                return Ok(());
            }
            Stage::Ended(_) | Stage::Failed => return Err(Error::Ended),
        };
        let found = recognition.push(&self.registry, bytes, is_end);
        if matches!(found, Ok(None)) {
            return Ok(());
        }
        let Stage::Recognising(recognition) = mem::replace(&mut self.stage, Stage::Failed) else {
            return Ok(());
        };
        if let Some(executor) = found? {
            self.stage = reading(&self.options, &executor)?;
            return self.take(&recognition.into_held(), is_end);
        }
        Ok(())
    }

    fn outputs(&self) -> Option<&Outputs> {
        match &self.stage {
            Stage::Reading(processor) => Some(processor.transducer().emitter()),
            Stage::Ended(outputs) => Some(outputs),
            Stage::Recognising(_) | Stage::Whole(_) | Stage::Failed => None,
        }
    }
}

/// The first stage of lines.
fn begin(options: &Options, registry: &Registry) -> Result<Stage, Error> {
    let Some(name) = &options.format else {
        return Ok(Stage::Recognising(Box::new(Recognition::new(registry))));
    };
    let executor = registry.named(name).ok_or_else(|| Error::UnknownFormat(name.clone()))?;
    reading(options, executor)
}

fn zone(options: &Options) -> Result<TimeZone, Error> {
    let Some(name) = &options.zone else { return Ok(TimeZone::UTC) };
    TimeZone::get(name).map_err(|_| Error::UnknownZone(name.clone()))
}

fn reading(options: &Options, executor: &DynExecutor) -> Result<Stage, Error> {
    let sibling = |path: &Path| options.siblings.get(path).cloned();
    let reducer = Sessions::new(executor.of_file(&options.path, &sibling));
    let transducer = Transducer::new(reducer, Outputs::new(options.outputs, zone(options)?));
    Ok(Stage::Reading(Box::new(Processor::new(Records, transducer))))
}
