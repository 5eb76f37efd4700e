//! [`SinkKind`]: a consumer that can be named on the command line.

use std::{io::Write, sync::Arc};

use clap::Args;
use foldline_domain::DynEmitter;
use foldline_render::transcript::TranscriptStyle;

use super::otlp::{AgentSpan, Arrival, Variables, Wake};
use crate::error::Error;

/// The destination of a sink.
pub(crate) type Writer = Box<dyn Write + Send>;

/// Options of sinks.
#[derive(Clone, Debug)]
pub(crate) struct SinkOptions {
    /// For transcripts.
    pub(crate) style: TranscriptStyle,
    /// The name of the log, for an audit trail.
    pub(crate) log: String,
    /// The content of OpenTelemetry.
    pub(crate) content: ContentArgs,
    /// The environment variables of OpenTelemetry.
    pub(crate) variables: Variables,
    /// When the records arrive, for OpenTelemetry.
    pub(crate) arrival: Arrival,
    /// The span of the agent that is run, for OpenTelemetry.
    pub(crate) agent: Option<AgentSpan>,
    /// What wakes an emitter of OpenTelemetry when nothing arrives any more.
    pub(crate) wake: Wake,
    /// Whether the run may wait for a collector that takes what it gets. Such a run delays no agent.
    #[cfg_attr(not(feature = "otlp"), expect(dead_code, reason = "a file needs no patience"))]
    pub(crate) is_patient: bool,
    /// Whether the logs are stored in a database, whose tokens and costs are emitted instead of those of each log.
    pub(crate) is_stored: bool,
}

impl SinkOptions {
    /// The same options for a run of an agent, which has a span of its own.
    pub(crate) fn running(self) -> Result<Self, Error> {
        let agent = Some(AgentSpan::of(&self.variables)?);
        Ok(Self { arrival: Arrival::Now, agent, ..self })
    }

    /// Options without those of OpenTelemetry, which come from the command line and the environment.
    pub(crate) fn new(style: TranscriptStyle, log: String, content: ContentArgs) -> Self {
        let (variables, arrival) = (Variables::of_process(), Arrival::Unknown);
        let wake = Wake::default();
        Self {
            style,
            log,
            content,
            variables,
            arrival,
            agent: None,
            wake,
            is_patient: false,
            is_stored: false,
        }
    }
}

/// The options for content in the sink for OpenTelemetry, which has none by default.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct ContentArgs {
    /// Include messages, arguments and results in --sink otlp
    #[arg(long)]
    pub(crate) content: bool,

    /// Replace what looks like a secret in the content of --sink otlp; best effort
    #[arg(long, requires = "content")]
    pub(crate) redact: bool,
}

impl ContentArgs {
    /// Refuses content that none of these consumers has.
    pub(crate) fn check<'k>(
        self,
        kinds: impl IntoIterator<Item = &'k SinkKind>,
    ) -> Result<(), Error> {
        match self.content && !kinds.into_iter().any(|kind| kind.can_be_sent) {
            true => Err(Error::WrongUse("--content needs --sink otlp".to_owned())),
            false => Ok(()),
        }
    }
}

/// When a consumer can be resumed from a stored memory.
#[derive(Clone, Copy, Debug)]
enum Resumable {
    Always,
    Never,
    /// Unless it redacts: what it has replaced is not stored.
    Unredacted,
}

type Make = dyn Fn(&SinkOptions, Writer) -> DynEmitter + Send + Sync;

/// A consumer that can be named on the command line.
#[derive(Clone)]
pub(crate) struct SinkKind {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Whether it can be resumed from a stored memory.
    resumable: Resumable,
    /// Whether it can be sent to an address.
    pub(crate) can_be_sent: bool,
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
        let (resumable, hashes_lines, can_be_sent) = (Resumable::Always, false, false);
        Self { name, about, resumable, can_be_sent, hashes_lines, make: Arc::new(make) }
    }

    /// The same consumer, which cannot be resumed.
    pub(super) fn whole(self) -> Self {
        Self { resumable: Resumable::Never, ..self }
    }

    /// The same consumer, which can be sent to an address, and redacted.
    pub(super) fn sent(self) -> Self {
        Self { resumable: Resumable::Unredacted, can_be_sent: true, ..self }
    }

    /// Whether it can be resumed from a stored memory.
    pub(crate) fn is_resumable(&self, content: ContentArgs) -> bool {
        match self.resumable {
            Resumable::Always => true,
            Resumable::Never => false,
            Resumable::Unredacted => !content.redact,
        }
    }

    /// The same consumer, whose events need the digests of their lines.
    pub(super) fn hashing_lines(self) -> Self {
        Self { hashes_lines: true, ..self }
    }

    pub(crate) fn make(&self, options: &SinkOptions, writer: Writer) -> DynEmitter {
        (self.make)(options, writer)
    }
}
