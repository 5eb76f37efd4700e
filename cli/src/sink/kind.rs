//! [`SinkKind`]: a consumer that can be named on the command line.

use std::{io::Write, sync::Arc};

use foldline::emitters::{DynEmitter, transcript::TranscriptStyle};

/// The destination of a sink.
pub(crate) type Writer = Box<dyn Write + Send>;

/// Options of sinks.
#[derive(Clone, Debug)]
pub(crate) struct SinkOptions {
    /// For transcripts.
    pub(crate) style: TranscriptStyle,
    /// The name of the log, for an audit trail.
    pub(crate) log: String,
}

type Make = dyn Fn(&SinkOptions, Writer) -> DynEmitter + Send + Sync;

/// A consumer that can be named on the command line.
#[derive(Clone)]
pub(crate) struct SinkKind {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Whether it can be resumed from a stored memory.
    pub(crate) resumable: bool,
    /// Whether its events need the digests of their lines.
    pub(crate) hashes_lines: bool,
    make: Arc<Make>,
}

impl SinkKind {
    pub(super) fn new(
        name: &'static str,
        about: &'static str,
        make: impl Fn(&SinkOptions, Writer) -> DynEmitter + Send + Sync + 'static,
    ) -> Self {
        Self { name, about, resumable: true, hashes_lines: false, make: Arc::new(make) }
    }

    /// The same consumer, which cannot be resumed.
    pub(super) fn whole(self) -> Self {
        Self { resumable: false, ..self }
    }

    /// The same consumer, whose events need the digests of their lines.
    pub(super) fn hashing_lines(self) -> Self {
        Self { hashes_lines: true, ..self }
    }

    pub(crate) fn make(&self, options: &SinkOptions, writer: Writer) -> DynEmitter {
        (self.make)(options, writer)
    }
}
