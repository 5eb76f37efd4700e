//! The list of executors, and type-erased executors.

use std::{any::Any, fs};

use foldline::transduce::Reducer;
use foldline_agents::{
    DynExecutor, Evidence, Executor, ExecutorReducer, Registry,
    claude::{ClaudeSession, ClaudeStream},
    codex::{CodexExec, CodexRollout},
    droid::{Droid, DroidSession},
    wire::{Object, Record},
};
use foldline_domain::DomainEvent;

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

/// Compares an executor with its type-erased form, whose state is stored and restored after each record.
fn erasure_changes_nothing<E: Executor + Clone>(executor: &E) {
    let erased = DynExecutor::new(executor.clone());
    let store = |state| {
        let restored = erased.restore(&serde_json::to_string(&state).unwrap()).unwrap();
        assert_eq!(restored, state);
        restored.clone()
    };
    let folder = format!("{}/../tests/fixtures/{}", env!("CARGO_MANIFEST_DIR"), E::FORMAT);
    for file in fs::read_dir(folder).unwrap() {
        let log = fs::read(file.unwrap().path()).unwrap();
        let log = String::from_utf8_lossy(&log);
        let plain = run(&ExecutorReducer::new(executor.clone()), &log, |state| state);
        assert_eq!(run(&erased, &log, store), plain, "{}", E::FORMAT);
    }
}

#[test]
fn an_erased_state_is_as_good_as_any() {
    erasure_changes_nothing(&Droid);
    erasure_changes_nothing(&DroidSession);
    erasure_changes_nothing(&ClaudeStream);
    erasure_changes_nothing(&ClaudeSession::default());
    erasure_changes_nothing(&CodexExec);
    erasure_changes_nothing(&CodexRollout);
}

#[test]
fn the_state_of_another_executor_is_no_panic() {
    let registry = Registry::builtin();
    let [droid, codex] = ["droid", "codex-rollout"].map(|name| registry.named(name).unwrap());
    let object = Object::parse(r#"{"type":"message"}"#).unwrap();
    let (state, events) = droid.reduce(codex.init(), Record::Object(object));
    assert_eq!(state, codex.init());
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

#[test]
fn a_state_of_one_executor_is_not_restored_as_that_of_another() {
    let registry = Registry::builtin();
    let executor = |name: &str| registry.named(name).unwrap();
    let stored = serde_json::to_string(&executor("gemini").init()).unwrap();
    assert!(executor("gemini").restore(&stored).is_ok());
    for format in registry.formats().filter(|format| format.name != "gemini") {
        let refused = executor(format.name).restore(&stored).unwrap_err().to_string();
        assert!(refused.contains("a state of gemini is not a state of"), "{refused}");
    }
}
