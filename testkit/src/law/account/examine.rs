//! [`examine`]: finds the effects of the scalars of a log.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
};

use foldline::{
    position::{Located, Position},
    transduce::{Batch, Reducer},
};
use foldline_agents::{AnyState, DynExecutor, Sessions, SessionsState, wire::Record};
use foldline_domain::DomainEvent;

use super::{
    effect::{Effects, effects, repetition},
    scalar::{Scalar, scalars},
};
use crate::{
    fold::Fold,
    law::{
        texts::{record, texts},
        totality::{Reading, reading},
    },
};

/// The number of times that a field is examined from the beginning of a log. It is also examined the last time.
const FIRST: usize = 2;

/// The number of classes of values of a field that are examined.
const CLASSES: usize = 24;

/// Marks an effect that only a later record brings.
const LATER: &str = " (later)";

/// The number of records after a change in which its effects are searched.
const WINDOW: usize = 64;

/// The field of an account that declares what a repetition of the whole record does.
const AGAIN: &str = "(again)";

/// A field that was examined.
pub(super) struct Examined<'f> {
    pub(super) position: Position,
    pub(super) reading: Reading,
    /// The type of the record.
    pub(super) kind: &'f str,
    /// The path to the scalar, or [`AGAIN`].
    pub(super) path: &'f str,
    pub(super) effects: Effects,
}

type States = SessionsState<AnyState>;

/// Examines the scalars and the repetition of the records of a log.
pub(super) fn examine(executor: &DynExecutor, log: &[u8], mut each: impl FnMut(Examined<'_>)) {
    // Records borrow from their texts.
    let lines = texts(log);
    let records: Vec<_> = lines.iter().map(|(position, text)| record(*position, text)).collect();
    let reducer = Sessions::new(executor);
    let (mut state, mut fold) = (Some(reducer.init()), Fold::default());
    let chosen = choose(executor, &lines, &records);
    let mut repeated = BTreeMap::new();
    for (index, (position, text)) in lines.iter().enumerate() {
        let Some(before) = state.take() else { return };
        let rest = &records[index + 1..records.len().min(index + 1 + WINDOW)];
        if let (Some(unchanged), Some(chosen)) = (&records[index], chosen.get(&index)) {
            let (reading, kind) = reading(executor, &unchanged.item);
            let unchanged = records[index].as_ref();
            let base = run(&reducer, before.clone(), fold.clone(), unchanged, rest);
            let times = repeated.entry(kind.clone()).or_insert(0);
            *times += 1;
            if *times <= FIRST {
                let again: Vec<_> =
                    [unchanged.cloned()].into_iter().chain(rest.iter().cloned()).collect();
                let with = run(&reducer, before.clone(), fold.clone(), unchanged, &again);
                let effects = repetition(&base[1], &with[1]);
                each(Examined { position: *position, reading, kind: &kind, path: AGAIN, effects });
            }
            for scalar in chosen {
                let changes = scalar.changes();
                let attempts = changes.iter().map(|change| {
                    let text = scalar.replace(text, &change.new);
                    let changed = record(*position, &text);
                    let with = run(&reducer, before.clone(), fold.clone(), changed.as_ref(), rest);
                    let soon = effects(change, &base[0], &with[0]);
                    let all = effects(change, &base[1], &with[1]);
                    let is_soon = |effect: &String| soon.contains(effect) || !effect.contains('.');
                    let later = |effect| if is_soon(&effect) { effect } else { effect + LATER };
                    all.into_iter().map(later).collect::<Effects>()
                });
                // Nothing of a run is used after its panic.
                let attempt = AssertUnwindSafe(|| { attempts }.find(|effects| !effects.is_empty()));
                let panics = |_| Some(Effects::from(["panics".to_owned()]));
                let effects = catch_unwind(attempt).unwrap_or_else(panics).unwrap_or_default();
                let path = scalar.path.as_str();
                each(Examined { position: *position, reading, kind: &kind, path, effects });
            }
        }
        let Some(next) = records[index].clone() else {
            state = Some(before);
            continue;
        };
        let (after, events) = reducer.reduce(before, next);
        events.iter().for_each(|event| fold.apply(event));
        state = Some(after);
    }
}

/// The scalars to be examined in each record.
fn choose(
    executor: &DynExecutor,
    lines: &[(Position, String)],
    records: &[Option<Located<Record<'_>>>],
) -> BTreeMap<usize, Vec<Scalar>> {
    let mut fields = BTreeMap::<(String, String), (usize, BTreeSet<String>)>::new();
    let (mut last, mut chosen) = (BTreeMap::new(), BTreeMap::<usize, Vec<Scalar>>::new());
    for (index, ((_, text), record)) in lines.iter().zip(records).enumerate() {
        let Some(record) = record else { continue };
        let (_, kind) = reading(executor, &record.item);
        let all = scalars(text);
        let around: Vec<_> = all
            .iter()
            .filter(|scalar| scalar.value.is_string() && scalar.is_choice())
            .cloned()
            .collect();
        for scalar in all {
            let field = (kind.clone(), scalar.path.clone());
            let (times, values) = fields.entry(field.clone()).or_default();
            let is_new = values.insert(class(&scalar, &around));
            *times += 1;
            if *times <= FIRST || is_new && values.len() <= CLASSES {
                last.remove(&field);
                chosen.entry(index).or_default().push(scalar);
            } else {
                last.insert(field, (index, scalar));
            }
        }
    }
    for (index, scalar) in last.into_values() {
        chosen.entry(index).or_default().push(scalar);
    }
    chosen
}

/// The class of a scalar, with the short words of the objects around it, such as a role or the name of a tool.
fn class(scalar: &Scalar, choices: &[Scalar]) -> String {
    let parent = |path: &str| {
        path.rsplit_once('.').map_or(String::new(), |(parent, _)| format!("{parent}."))
    };
    let is_around = |choice: &&Scalar| {
        choice.path != scalar.path && scalar.path.starts_with(&parent(&choice.path))
    };
    let mut class = scalar.class();
    if !scalar.is_choice() {
        choices.iter().filter(is_around).for_each(|choice| class += &format!(" {}", choice.value));
    }
    class
}

/// The folds after the first of these records, and after all of them as if they were the last of the log.
fn run(
    reducer: &Sessions<&DynExecutor>,
    mut state: States,
    mut fold: Fold,
    first: Option<&Located<Record<'_>>>,
    rest: &[Option<Located<Record<'_>>>],
) -> [Fold; 2] {
    let apply = |fold: &mut Fold, events: Batch<Located<DomainEvent>>| {
        events.iter().for_each(|event| fold.apply(event));
    };
    let mut soon = None;
    for record in first.into_iter().chain(rest.iter().flatten()) {
        let (next, events) = reducer.reduce(state, record.clone());
        state = next;
        apply(&mut fold, events);
        soon.get_or_insert_with(|| fold.clone());
    }
    apply(&mut fold, Reducer::<Located<Record<'_>>, _, _>::finish(reducer, state).1);
    [soon.unwrap_or_else(|| fold.clone()), fold]
}
