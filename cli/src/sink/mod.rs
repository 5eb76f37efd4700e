//! [`SinkKinds`]: the consumers of the program, by name; [`Sinks`]: the consumers of a run.

mod builtin;
mod kind;
mod running;
mod spool;

use std::{fmt::Display, io, path::PathBuf};

use foldline::{
    conversation::DomainEvent,
    emitters::{DynEmitter, lines::Lines, terminal::neutralise_line},
    position::Located,
    transduce::{Emitter, Resume, map},
};
use serde::{Serialize, de::DeserializeOwned};

pub(crate) use self::{
    kind::{SinkKind, SinkOptions, Writer},
    running::{Gathered, Sinks},
};
use crate::{distinct::DistinctFiles, error::Error};

/// The consumers of the program, by name.
#[derive(Clone)]
pub(crate) struct SinkKinds(Vec<SinkKind>);

impl SinkKinds {
    /// The built-in consumers; the first one is the default.
    pub(crate) fn builtin() -> Self {
        Self(builtin::kinds())
    }

    /// Adds a consumer, which replaces one of the same name.
    pub(crate) fn with<M, Line, E>(
        mut self,
        name: &'static str,
        make: impl Fn() -> M + Send + Sync + 'static,
    ) -> Self
    where
        M: Emitter<Located<DomainEvent>, Result<Line, E>> + Resume + Send + 'static,
        M::State: Serialize + DeserializeOwned,
        Line: Display + 'static,
        E: Display + 'static,
    {
        // A consumer may print text of a log, which must not control the terminal.
        let line = |output: Result<Line, E>| match output {
            Ok(line) => Ok(neutralise_line(&line.to_string()).into_owned()),
            Err(error) => Err(io::Error::other(error.to_string())),
        };
        self.0.retain(|kind| kind.name != name);
        self.0.push(SinkKind::new(
            name,
            "A consumer that was added to the program",
            move |_, writer| DynEmitter::new(Lines::results(map(make(), line), writer)),
        ));
        self
    }

    /// The consumer of this name.
    pub(crate) fn require(&self, name: &str) -> Result<&SinkKind, Error> {
        self.0.iter().find(|kind| kind.name == name).ok_or_else(|| {
            let names: Vec<_> = self.iter().map(|kind| kind.name).collect();
            let known = names.join(", ");
            Error::WrongUse(format!("there is no output {name:?} (there are: {known})"))
        })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &SinkKind> {
        self.0.iter()
    }
}

/// A consumer as it is named on the command line: `NAME` or `NAME=FILE`.
#[derive(Clone, Debug)]
pub(crate) struct SinkName {
    pub(crate) name: String,
    pub(crate) file: Option<PathBuf>,
}

impl SinkName {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (name, file) = match text.split_once('=') {
            Some((_, "")) => return Err("give a file after the =".to_owned()),
            Some((name, file)) => (name, Some(PathBuf::from(file))),
            None => (text, None),
        };
        Ok(Self { name: name.to_owned(), file })
    }

    /// Names the files of these consumers as outputs.
    pub(crate) fn name_files(sinks: &[Self], files: &mut DistinctFiles) -> Result<(), Error> {
        for Self { name, file } in sinks {
            if let Some(file) = file {
                files.output(&format!("--sink {name}"), file)?;
            }
        }
        Ok(())
    }
}
