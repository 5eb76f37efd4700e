//! [`Recognition`]: reads the beginning of a log until its format is known.

use foldline::processor::{DEFAULT_MAX_LINE, Line, LineFramer, read_inputs};
use foldline_agents::{DynExecutor, Format, Recogniser, Records, Registry, Verdict};

use crate::fold::Error;

/// The most bytes that are held to recognise the format, as in the program.
const MOST: usize = 16 << 20;

/// The magic bytes of files that are not read here, and what they are.
const FOREIGN: [(&[u8], &str); 3] = [
    (b"SQLite format 3\0", "a database"),
    (b"\x1F\x8B\x08", "compressed with gzip"),
    (b"\x28\xB5\x2F\xFD", "compressed with Zstandard"),
];

/// The beginning of a log, with its bytes.
#[derive(Debug)]
pub(crate) struct Recognition {
    recogniser: Recogniser,
    framer: LineFramer,
    held: Vec<u8>,
}

impl Recognition {
    pub(crate) fn new(registry: &Registry) -> Self {
        let framer = LineFramer::new(DEFAULT_MAX_LINE);
        Self { recogniser: registry.recogniser(), framer, held: Vec::new() }
    }

    /// Adds bytes. Returns the executor when it is known, at the latest at the end.
    pub(crate) fn push(
        &mut self,
        registry: &Registry,
        bytes: &[u8],
        is_end: bool,
    ) -> Result<Option<DynExecutor>, Error> {
        self.held.extend_from_slice(bytes);
        if let Some((_, what)) = FOREIGN.iter().find(|(magic, _)| self.held.starts_with(magic)) {
            return Err(Error::Foreign(what));
        }
        let recogniser = &mut self.recogniser;
        let mut observe = |line: Line<'_>| {
            // A chunk contains many lines, and the first often decides.
            if !recogniser.verdict().is_final() {
                read_inputs(line, &Records, |record| recogniser.observe(&record.item));
            }
        };
        self.framer.push(bytes, &mut observe);
        if is_end {
            self.framer.finish(&mut observe);
        }
        let is_last = is_end || self.held.len() > MOST;
        match recogniser.verdict() {
            Verdict::Certain(format) => executor(registry, format).map(Some),
            Verdict::Likely(format) if is_last => executor(registry, format).map(Some),
            Verdict::Disputed(formats) => Err(Error::Disputed(names(formats))),
            _ if is_end && self.held.is_empty() => Err(Error::Empty),
            verdict if is_last || verdict.is_final() => {
                Err(Error::Unrecognised(names(registry.iter().map(DynExecutor::format))))
            }
            _ => Ok(None),
        }
    }

    /// The bytes so far.
    pub(crate) fn into_held(self) -> Vec<u8> {
        self.held
    }
}

fn executor(registry: &Registry, format: &Format) -> Result<DynExecutor, Error> {
    registry.named(format.name).cloned().ok_or(Error::UnknownFormat(format.name.to_owned()))
}

fn names(formats: impl IntoIterator<Item = &'static Format>) -> String {
    formats.into_iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}
