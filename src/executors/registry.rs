//! [`Registry`]: an open list of executors.

use super::{
    acp::Acp,
    amp::Amp,
    claude::{ClaudeSession, ClaudeStream},
    codex::{CodexExec, CodexRollout},
    copilot::Copilot,
    cursor::Cursor,
    droid::{Droid, DroidJsonrpc, DroidSession, DroidSettings},
    dynamic::DynExecutor,
    evidence::{Evidence, Judge},
    executor::Executor,
    format::Format,
    gemini::Gemini,
    opencode::Opencode,
    qwen::{Qwen, QwenSession},
    wire::Object,
};

/// The executors that a program reads logs with, and the formats that it can name without being able
/// to read them. Nothing of it is global: a program makes its own.
///
/// ```
/// use foldline::executors::Registry;
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
            .with(ClaudeSession)
            .with(CodexExec)
            .with(CodexRollout)
            .with(Amp)
            .with(Gemini)
            .with(Opencode)
            .with(Qwen)
            .with(QwenSession)
            .with(Copilot)
            .with(Cursor)
            .with(Acp)
    }

    /// The same with one more executor. It takes the place of an entry of the same name.
    #[must_use]
    pub fn with<E: Executor>(self, executor: E) -> Self {
        self.add(Entry::Executor(DynExecutor::new(executor)))
    }

    /// The same with a format that can be recognised and not read. It takes the place of an entry of
    /// the same name.
    #[must_use]
    pub fn with_format(self, format: &'static Format, judge: Judge) -> Self {
        self.add(Entry::Format(format, judge))
    }

    fn add(mut self, entry: Entry) -> Self {
        self.entries.retain(|known| known.format().name != entry.format().name);
        self.entries.push(entry);
        self
    }

    /// The executor of the format with this name.
    pub fn named(&self, name: &str) -> Option<&DynExecutor> {
        self.iter().find(|executor| executor.format().name == name)
    }

    /// The executors, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &DynExecutor> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Executor(executor) => Some(executor),
            Entry::Format(..) => None,
        })
    }

    /// All formats that can be recognised, those without an executor among them.
    pub fn formats(&self) -> impl Iterator<Item = &'static Format> {
        self.entries.iter().map(Entry::format)
    }

    /// What each format says of a record, in the order of [`formats`](Self::formats).
    pub(super) fn judge(&self, object: &Object<'_>) -> Vec<Evidence> {
        self.entries.iter().map(|entry| entry.recognise(object)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::{any::Any, fs};

    use super::*;
    use crate::{
        conversation::DomainEvent,
        executors::{Reducing, wire::Record},
        transduce::Reducer,
    };

    fn run<S>(
        reducer: &impl for<'a> Reducer<Record<'a>, S, DomainEvent>,
        log: &str,
        between: impl Fn(S) -> S,
    ) -> Vec<DomainEvent> {
        let mut state = Some(reducer.init());
        let mut all = Vec::new();
        for line in log.lines() {
            Record::read(line, |_, record| {
                let (next, events) = reducer.reduce(between(state.take().unwrap()), record);
                state = Some(next);
                all.extend(events);
            });
        }
        all.extend(reducer.finish(state.unwrap()).1);
        all
    }

    /// Every fixture through the executor itself, and through the erased one, whose state is stored
    /// and read again after each record.
    fn erasure_changes_nothing<E: Executor + Copy>(executor: E) {
        let erased = DynExecutor::new(executor);
        let store = |state| {
            let restored = erased.restore(&serde_json::to_string(&state).unwrap()).unwrap();
            assert_eq!(restored, state);
            restored.clone()
        };
        let folder = format!("{}/tests/fixtures/{}", env!("CARGO_MANIFEST_DIR"), E::FORMAT);
        for file in fs::read_dir(folder).unwrap() {
            let log = fs::read(file.unwrap().path()).unwrap();
            let log = String::from_utf8_lossy(&log);
            let plain = run(&Reducing::new(executor), &log, |state| state);
            assert_eq!(run(&erased, &log, store), plain, "{}", E::FORMAT);
        }
    }

    #[test]
    fn an_erased_state_is_as_good_as_any() {
        erasure_changes_nothing(Droid);
        erasure_changes_nothing(DroidSession);
        erasure_changes_nothing(ClaudeStream);
        erasure_changes_nothing(ClaudeSession);
        erasure_changes_nothing(CodexExec);
        erasure_changes_nothing(CodexRollout);
    }

    #[test]
    fn the_state_of_another_executor_is_no_panic() {
        let registry = Registry::builtin();
        let [droid, codex] = ["droid", "codex-rollout"].map(|name| registry.named(name).unwrap());
        let object = Object::parse(r#"{"type":"message"}"#).unwrap();
        let (state, events) = droid.reduce(codex.init(), Record::Object(object));
        assert!(codex.owns(&state));
        assert!(matches!(events.as_slice(), [DomainEvent::Warning(_)]));
    }

    #[test]
    fn an_entry_takes_the_place_of_one_of_the_same_name() {
        let registry = Registry::builtin();
        let count = registry.formats().count();
        let registry = registry.with_format(&Droid::FORMAT, |_| Evidence::None);
        assert_eq!(registry.formats().count(), count);
        assert!(registry.named("droid").is_none());
        assert!(registry.with(Droid).named("droid").is_some());
    }

    #[test]
    fn a_registry_may_be_shared_between_threads() {
        fn is_shared(_: &(impl Any + Send + Sync)) {}
        is_shared(&Registry::builtin());
    }
}
