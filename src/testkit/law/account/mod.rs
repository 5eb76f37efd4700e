//! The law of accounts.

mod effect;
mod scalar;
mod table;

use std::collections::{BTreeMap, BTreeSet};

pub use self::table::{Accounts, NotAccounts};
use self::{effect::effects, scalar::Scalar};
pub(super) use self::{
    effect::{Difference, Effects},
    scalar::{MARKS, name, scalars},
};
use super::{
    Law, Place, Violation,
    texts::{record, texts},
    totality::{Reading, reading},
};
use crate::{
    conversation::DomainEvent,
    executors::{AnyState, DynExecutor, Sessions, SessionsState, wire::Record},
    position::{Located, Position},
    testkit::{fold::Fold, violation::caught},
    transduce::{Batch, Reducer},
};

/// The number of times that a field is examined from the beginning of a log. It is also examined the last time.
const FIRST: usize = 2;

/// The number of short values of a field that are examined.
const CHOICES: usize = 12;

/// Marks an effect that only a later record brings.
const LATER: &str = " (later)";

/// The number of records after a change in which its effects are searched.
const WINDOW: usize = 64;

/// The law of accounts: every scalar of every record is accounted for in the fold that consumers see.
///
/// Each scalar is replaced by another value of its type, one at a time: a string gets marks at its beginning, inside
/// and at its end; a number or a time grows by a prime; a truth value is flipped. The log is folded again, and the
/// difference between the two folds is the effect. The effect has to be one that `accounts` declares for the field; with
/// `None`, a field only has to have an effect. JSON within strings is examined too. A record of an unknown type has to be
/// kept whole, as a diagnostic.
///
/// In one log, a field is examined the first two times, the last time, and where it has another short value.
///
/// # Errors
/// All fields with another effect, in the syntax of [`Accounts`].
pub fn account(
    executor: &DynExecutor,
    log: &[u8],
    accounts: Option<&Accounts>,
) -> Result<usize, Violation> {
    let (mut wrong, mut count) = (BTreeMap::new(), 0);
    caught(Law::Account, Place::Unknown, || {
        examine(executor, log, |field| {
            count += 1;
            if let Some(expected) = field.problem(accounts) {
                wrong.entry(field.line()).or_insert((field.position, expected));
            }
        });
        Ok(())
    })?;
    let Some(first) = wrong.values().map(|(position, _)| position.line).min() else {
        return Ok(count);
    };
    let fields = if wrong.len() == 1 { "a field is" } else { "fields are" };
    let message = format!("{fields} not accounted for as declared");
    let lines = wrong.iter().map(|(observed, (position, expected))| {
        format!("{observed}\n    line {}: {expected}", position.line)
    });
    let all: Vec<_> = lines.collect();
    let violation = Violation::new(Law::Account, Place::Line(first), message);
    Err(violation.text("observed", all.join("\n")))
}

impl Accounts {
    /// The accounts of these logs, as observed. A field that is dropped gets `?` as its reason.
    pub fn of<L: AsRef<[u8]>>(
        executor: impl Into<DynExecutor>,
        logs: impl IntoIterator<Item = L>,
    ) -> Self {
        let (executor, mut accounts) = (executor.into(), Self::default());
        for log in logs {
            examine(&executor, log.as_ref(), |field| {
                if field.reading != Reading::Unknown {
                    accounts.observe(field.kind, &field.scalar.path, field.effects);
                }
            });
        }
        accounts
    }
}

/// A field that was examined.
struct Examined<'f> {
    position: Position,
    reading: Reading,
    /// The type of the record.
    kind: &'f str,
    scalar: &'f Scalar,
    effects: Effects,
}

impl Examined<'_> {
    fn line(&self) -> String {
        let dropped = self.effects.is_empty().then(|| "?".to_owned());
        let effects = dropped.is_none().then(|| self.effects.clone()).into_iter().collect();
        let account = table::Account { effects, dropped };
        table::line(self.kind, &self.scalar.path, &account)
    }

    /// What was expected instead; `None` if the field is accounted for.
    fn problem(&self, accounts: Option<&Accounts>) -> Option<String> {
        let Self { kind, scalar, effects, .. } = self;
        if self.reading == Reading::Unknown {
            return effects
                .is_empty()
                .then(|| "the record is unknown, and not kept whole".to_owned());
        }
        let Some(accounts) = accounts else {
            return effects
                .is_empty()
                .then(|| "it has no effect, and no reason is declared".to_owned());
        };
        let Some(declared) = accounts.get(kind, &scalar.path) else {
            return Some("the field is not declared".to_owned());
        };
        let is_declared = match effects.is_empty() {
            true => declared.dropped.is_some(),
            false => declared.effects.contains(effects),
        };
        (!is_declared).then(|| format!("declared: {}", table::line(kind, &scalar.path, declared)))
    }
}

/// The fields whose effects are not the declared ones, as text; `None` if there are none.
pub(super) fn problems(observed: &Accounts, declared: Option<&Accounts>) -> Option<String> {
    let is_wrong = |(kind, path, account): &(&str, &str, &table::Account)| match declared {
        None => account.effects.is_empty(),
        Some(declared) => declared.get(kind, path).is_none_or(|declared| {
            let is_dropped = account.dropped.is_some() && declared.dropped.is_none();
            is_dropped || !account.effects.is_subset(&declared.effects)
        }),
    };
    let wrong = observed.fields().filter(is_wrong);
    let lines: Vec<_> =
        wrong.map(|(kind, path, account)| table::line(kind, path, account)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

type States = SessionsState<AnyState>;

/// Examines the scalars of a log.
fn examine(executor: &DynExecutor, log: &[u8], mut each: impl FnMut(Examined<'_>)) {
    // Records borrow from their texts.
    let lines = texts(log);
    let records: Vec<_> = lines.iter().map(|(position, text)| record(*position, text)).collect();
    let reducer = Sessions::new(executor);
    let (mut state, mut fold) = (Some(reducer.init()), Fold::default());
    let chosen = choose(executor, &lines, &records);
    for (index, (position, text)) in lines.iter().enumerate() {
        let Some(before) = state.take() else { return };
        let rest = &records[index + 1..records.len().min(index + 1 + WINDOW)];
        if let (Some(unchanged), Some(chosen)) = (&records[index], chosen.get(&index)) {
            let (reading, kind) = reading(executor, &unchanged.item);
            let mut base = None;
            for scalar in chosen {
                let base = base.get_or_insert_with(|| {
                    run(&reducer, before.clone(), fold.clone(), records[index].as_ref(), rest)
                });
                let changes = scalar.changes();
                let mut effects = changes.iter().map(|change| {
                    let text = scalar.replace(text, &change.new);
                    let changed = record(*position, &text);
                    let with = run(&reducer, before.clone(), fold.clone(), changed.as_ref(), rest);
                    let soon = effects(change, &base[0], &with[0]);
                    let all = effects(change, &base[1], &with[1]);
                    let is_soon = |effect: &String| soon.contains(effect) || !effect.contains('.');
                    let later = |effect| if is_soon(&effect) { effect } else { effect + LATER };
                    all.into_iter().map(later).collect::<Effects>()
                });
                let effects = effects.find(|effects| !effects.is_empty()).unwrap_or_default();
                each(Examined { position: *position, reading, kind: &kind, scalar, effects });
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
        for scalar in scalars(text) {
            let field = (kind.clone(), scalar.path.clone());
            let (times, values) = fields.entry(field.clone()).or_default();
            let is_new = scalar.is_choice() && values.insert(scalar.value.to_string());
            *times += 1;
            if *times <= FIRST || is_new && values.len() <= CHOICES {
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
