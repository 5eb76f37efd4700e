//! [`Sink`]: a consumer that the program runs; [`SinkKinds`]: the consumers by name.

mod builtin;
mod consumer;
mod running;
mod spool;

use std::{
    fmt::Display,
    io::{self, Write},
    path::PathBuf,
    sync::Arc,
};

use foldline::{
    conversation::{DomainEvent, Json, Located},
    emitters::transcript::TranscriptStyle,
    processor::Counts,
    transduce::{Emitter, Resume},
};
use serde::{Serialize, de::DeserializeOwned};

use self::consumer::Consumer;
pub(crate) use self::running::{Gathered, Sinks};
use crate::{distinct::DistinctFiles, error::Error};

/// Where a sink writes.
pub(crate) type Writer = Box<dyn Write + Send>;

/// A consumer that writes its output itself. As an emitter, it emits only write errors.
pub(crate) trait Sink: Emitter<Located<DomainEvent>, io::Error> + Send {
    /// Writes what is buffered.
    fn flush(&mut self) -> io::Result<()>;

    /// Writes the rest at the end of the log, of which `read` was read.
    fn conclude(&mut self, _read: Counts) -> io::Result<()> {
        Ok(())
    }

    /// Its memory; `None` if it is not resumable.
    fn state(&self) -> Option<Json>;

    /// Continues from a stored memory.
    fn resume(&mut self, state: &Json) -> serde_json::Result<()>;
}

/// Options of sinks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SinkOptions {
    /// For transcripts.
    pub(crate) style: TranscriptStyle,
}

type Make = dyn Fn(SinkOptions, Writer) -> Box<dyn Sink> + Send + Sync;

/// A consumer that can be named on the command line.
#[derive(Clone)]
pub(crate) struct SinkKind {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Whether it can be resumed from a stored memory.
    pub(crate) resumable: bool,
    make: Arc<Make>,
}

impl SinkKind {
    pub(crate) fn make(&self, options: SinkOptions, writer: Writer) -> Box<dyn Sink> {
        (self.make)(options, writer)
    }
}

/// The consumers of the program, by name.
#[derive(Clone)]
pub(crate) struct SinkKinds(Vec<SinkKind>);

impl SinkKinds {
    /// The built-in consumers; the first one is the default.
    pub(crate) fn builtin() -> Self {
        let kind = |builtin::Kind { name, about, resumable, make }| SinkKind {
            name,
            about,
            resumable,
            make: Arc::new(make),
        };
        Self(builtin::KINDS.into_iter().map(kind).collect())
    }

    /// These and one more; one of the same name is replaced.
    pub(crate) fn with<M, Line, E>(
        mut self,
        name: &'static str,
        make: impl Fn() -> M + Send + Sync + 'static,
    ) -> Self
    where
        M: Emitter<DomainEvent, Result<Line, E>> + Resume + Send + 'static,
        M::State: Serialize + DeserializeOwned,
        Line: Display + 'static,
        E: Display + 'static,
    {
        self.0.retain(|kind| kind.name != name);
        self.0.push(SinkKind {
            name,
            about: "A consumer that was added to the program",
            resumable: true,
            make: Arc::new(move |_, writer| Box::new(Consumer::new(make(), writer))),
        });
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
