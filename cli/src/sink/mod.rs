//! [`SinkKinds`]: the consumers of the program, by name; [`Sinks`]: the consumers of a run.

mod builtin;
mod kind;
mod otlp;
mod running;
mod spool;

use std::{
    fmt::Display,
    io,
    path::{Path, PathBuf},
};

use foldline::{
    position::Located,
    transduce::{Emitter, Resume, map},
};
use foldline_domain::{DomainEvent, DynEmitter, lines::Lines};
use foldline_render::terminal::neutralise_line;
use serde::{Serialize, de::DeserializeOwned};

#[cfg(feature = "otlp")]
pub(crate) use self::otlp::{Delivery, Endpoints, Sent};
pub(crate) use self::{
    kind::{ContentArgs, SinkKind, SinkOptions, Writer},
    otlp::{AgentSpan, Arrival, TotalsPoints, points as totals_points},
    running::Sinks,
    spool::{Gathered, Written},
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

/// A consumer as it is named on the command line: `NAME`, `NAME=FILE` or `NAME=ADDRESS`.
#[derive(Clone, Debug)]
pub(crate) struct SinkName {
    pub(crate) name: String,
    destination: Option<Destination>,
}

/// The destination of a consumer that the command line names.
#[derive(Clone, Debug)]
enum Destination {
    File(PathBuf),
    Address(String),
}

/// A consumer with its destination.
pub(crate) struct ChosenSink<'p> {
    pub(crate) kind: &'p SinkKind,
    pub(crate) output: SinkOutput<'p>,
}

/// Where a consumer writes to.
pub(crate) enum SinkOutput<'p> {
    /// Standard error.
    Standard,
    File(&'p Path),
    #[cfg(feature = "otlp")]
    Collector(Endpoints),
}

impl SinkName {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (name, destination) = match text.split_once('=') {
            Some((_, "")) => return Err("give a file after the =".to_owned()),
            Some((name, to)) if to.starts_with("http://") || to.starts_with("https://") => {
                (name, Some(Destination::Address(to.to_owned())))
            }
            Some((name, file)) => (name, Some(Destination::File(file.into()))),
            None => (text, None),
        };
        Ok(Self { name: name.to_owned(), destination })
    }

    /// Whether it has no file.
    pub(crate) fn has_no_file(&self) -> bool {
        !matches!(self.destination, Some(Destination::File(_)))
    }

    /// Names the files of these consumers as outputs.
    pub(crate) fn name_files(sinks: &[Self], files: &mut DistinctFiles) -> Result<(), Error> {
        for Self { name, destination } in sinks {
            if let Some(Destination::File(file)) = destination {
                files.output(&format!("--sink {name}"), file)?;
            }
        }
        Ok(())
    }

    /// The consumer of this name, with its destination.
    ///
    /// # Errors
    /// There is no such consumer, or it cannot be sent to an address.
    pub(crate) fn choose<'p>(
        &'p self,
        kinds: &'p SinkKinds,
        options: &SinkOptions,
    ) -> Result<ChosenSink<'p>, Error> {
        let kind = kinds.require(&self.name)?;
        let address = match &self.destination {
            Some(Destination::File(file)) => {
                options.variables.check()?;
                return Ok(ChosenSink { kind, output: SinkOutput::File(file) });
            }
            Some(Destination::Address(address)) => Some(address.as_str()),
            None => None,
        };
        let output = match kind.can_be_sent {
            true => collector(address, options)?,
            false if address.is_some() => {
                let name = kind.name;
                let message =
                    format!("the output {name} cannot be sent to an address; name a file");
                return Err(Error::WrongUse(message));
            }
            false => SinkOutput::Standard,
        };
        Ok(ChosenSink { kind, output })
    }
}

/// The collector at an address, else the one that the environment names.
#[cfg(feature = "otlp")]
fn collector(address: Option<&str>, options: &SinkOptions) -> Result<SinkOutput<'static>, Error> {
    Ok(SinkOutput::Collector(Endpoints::of(&options.variables, address)?))
}

#[cfg(not(feature = "otlp"))]
fn collector(_: Option<&str>, _: &SinkOptions) -> Result<SinkOutput<'static>, Error> {
    let message = "this foldline was built without the feature otlp; give --sink otlp a file";
    Err(Error::WrongUse(message.to_owned()))
}
