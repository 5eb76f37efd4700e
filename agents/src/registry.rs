//! [`Registry`]: an extensible list of executors.

use foldline::source::Openers;

use super::{
    acp::Acp,
    amp::{Amp, AmpThread},
    antigravity::Antigravity,
    atif::Atif,
    claude::{ClaudeSession, ClaudeStream},
    cline::Cline,
    codex::{CodexExec, CodexRollout},
    copilot::Copilot,
    copilot_chat::CopilotChat,
    cursor::{Cursor, CursorChat, CursorTranscript},
    droid::{Droid, DroidJsonrpc, DroidSession, DroidSettings},
    dynamic::DynExecutor,
    gemini::{Gemini, GeminiSession},
    goose::Goose,
    grok::Grok,
    hermes::Hermes,
    kimi::Kimi,
    opencode::{Opencode, OpencodeSession},
    pi::Pi,
    qwen::{Qwen, QwenSession},
    wire::Object,
    zed::Zed,
};
use crate::executor::Format;
use crate::recogniser::{Evidence, Judge};

/// The executors of a program, and the formats that it recognises but cannot read. There is no global registry.
///
/// ```
/// use foldline_agents::Registry;
///
/// let registry = Registry::builtin();
/// let droid = registry.named("droid").ok_or("no executor")?;
/// assert_eq!(droid.format().title, "Factory Droid, stream-json");
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Registry {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
enum Entry {
    Executor(DynExecutor),
    /// A format without an executor.
    Format(&'static Format, Judge),
}

impl Entry {
    fn format(&self) -> &'static Format {
        match self {
            Self::Executor(executor) => executor.format(),
            Self::Format(format, _) => format,
        }
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        match self {
            Self::Executor(executor) => executor.recognise(object),
            Self::Format(_, judge) => judge(object),
        }
    }
}

impl Registry {
    /// The executors of this crate.
    pub fn builtin() -> Self {
        Self::default()
            .with(Droid)
            .with(DroidJsonrpc)
            .with(DroidSession)
            .with(DroidSettings::default())
            .with(ClaudeStream)
            .with(ClaudeSession::default())
            .with(CodexExec)
            .with(CodexRollout)
            .with(Amp)
            .with(AmpThread)
            .with(Gemini)
            .with(GeminiSession::default())
            .with(Opencode)
            .with(OpencodeSession::default())
            .with(Qwen)
            .with(QwenSession)
            .with(Copilot)
            .with(Cursor)
            .with(CursorTranscript::default())
            .with(CursorChat::default())
            .with(Pi)
            .with(Kimi::default())
            .with(Goose::default())
            .with(Cline)
            .with(CopilotChat::default())
            .with(Grok)
            .with(Zed::default())
            .with(Hermes::default())
            .with(Antigravity::default())
            .with(Acp)
            .with(Atif)
    }

    /// Adds an executor, or a [`RecordReducer`](super::RecordReducer). It replaces an entry of the same name.
    #[must_use]
    pub fn with(self, executor: impl Into<DynExecutor>) -> Self {
        self.add(Entry::Executor(executor.into()))
    }

    /// Adds a format that can be recognised but not read. It replaces an entry of the same name.
    #[must_use]
    pub fn with_format(self, format: &'static Format, judge: Judge) -> Self {
        self.add(Entry::Format(format, judge))
    }

    fn add(mut self, entry: Entry) -> Self {
        self.entries.retain(|known| known.format().name != entry.format().name);
        self.entries.push(entry);
        self
    }

    /// The executor for the format with this name.
    pub fn named(&self, name: &str) -> Option<&DynExecutor> {
        self.iter().find(|executor| executor.format().name == name)
    }

    /// How the logs of its executors are opened.
    pub fn openers(&self) -> Openers {
        self.iter().flat_map(DynExecutor::openers).collect()
    }

    /// The executors in insertion order.
    pub fn iter(&self) -> impl Iterator<Item = &DynExecutor> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Executor(executor) => Some(executor),
            Entry::Format(..) => None,
        })
    }

    /// All recognised formats, including those without an executor.
    pub fn formats(&self) -> impl Iterator<Item = &'static Format> {
        self.entries.iter().map(Entry::format)
    }

    /// The evidence for each format, in the order of [`formats`](Self::formats).
    pub(super) fn judge(&self, object: &Object<'_>) -> Vec<Evidence> {
        self.entries.iter().map(|entry| entry.recognise(object)).collect()
    }
}
