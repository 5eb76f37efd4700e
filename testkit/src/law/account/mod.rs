//! The law of accounts; [`examine`] finds the effects of the scalars of a log.

mod effect;
mod scalar;
mod table;

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
};

use foldline::{
    laws::caught,
    position::{Located, Position},
    transduce::{Batch, Reducer},
};
use foldline_agents::{AnyState, DynExecutor, Sessions, SessionsState, wire::Record};
use foldline_domain::DomainEvent;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

pub use self::table::{Accounts, NotAccounts};
pub(super) use self::{
    effect::{Difference, Effects, Leaf},
    scalar::{MARKS, is_choice, name, scalars},
};
use self::{
    effect::{defaults, effects, in_order, plain, repetition, rounded},
    scalar::{LARGE, Scalar},
};
use super::{
    Law, Place, Violation,
    records::{Reading, reading},
    texts::{record, texts},
};
use crate::run::Fold;

/// The law of accounts: every scalar of every record is accounted for in the fold that consumers see.
///
/// Each scalar is replaced by another value of its type, one at a time: a string gets marks at its beginning, inside
/// and at its end; a number or a time grows by a prime; a truth value is flipped. The log is folded again, and the
/// difference between the two folds is the effect. The effect has to be one that `accounts` declares for the field; with
/// `None`, a field only has to have an effect. JSON within strings is examined too. A record of an unknown type has to be
/// kept whole, as a diagnostic.
///
/// A number or a truth value that is there as it is, is also made a number that a float does not hold, `(rounded)`, and
/// left out, `(default)`; the strings of a list are marked, to find those that are `unordered`.
///
/// Each record is also repeated: the field `(again)` declares whether that adds nothing or the same once more.
///
/// In one log, a field is examined the first two times, the last time, and where its value is of another class: another
/// short word, another length, empty, of several lines, with other characters, a zero, a large number; or where a short word
/// of the objects around it is another, such as a role.
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
                    accounts.observe(field.kind, field.path, field.effects);
                }
            });
        }
        accounts
    }
}

impl Examined<'_> {
    fn line(&self) -> String {
        let dropped = self.effects.is_empty().then(|| "?".to_owned());
        let effects = dropped.is_none().then(|| self.effects.clone()).into_iter().collect();
        let account = table::Account { effects, dropped };
        table::line(self.kind, self.path, &account)
    }

    /// What was expected instead; `None` if the field is accounted for.
    fn problem(&self, accounts: Option<&Accounts>) -> Option<String> {
        let Self { kind, path, effects, .. } = self;
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
        let Some(declared) = accounts.get(kind, path) else {
            return Some("the field is not declared".to_owned());
        };
        let is_declared = declared.declares(effects);
        (!is_declared).then(|| format!("declared: {}", table::line(kind, path, declared)))
    }
}

/// The fields whose effects are not the declared ones, as text; `None` if there are none.
fn problems(observed: &Accounts, declared: Option<&Accounts>) -> Option<String> {
    let is_wrong = |(kind, path, account): &(&str, &str, &table::Account)| match declared {
        None => account.effects.is_empty(),
        Some(declared) => declared.get(kind, path).is_none_or(|declared| {
            let is_dropped = account.dropped.is_some() && !declared.declares(&Effects::new());
            is_dropped || !account.effects.iter().all(|effects| declared.declares(effects))
        }),
    };
    let wrong = observed.fields().filter(is_wrong);
    let lines: Vec<_> =
        wrong.map(|(kind, path, account)| table::line(kind, path, account)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

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
struct Examined<'f> {
    position: Position,
    reading: Reading,
    /// The type of the record.
    kind: &'f str,
    /// The path to the scalar, or [`AGAIN`].
    path: &'f str,
    effects: Effects,
}

type States = SessionsState<AnyState>;

/// Examines the scalars and the repetition of the records of a log.
fn examine(executor: &DynExecutor, log: &[u8], mut each: impl FnMut(Examined<'_>)) {
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
            let unordered = unordered(text, |text| {
                let changed = record(*position, text);
                run(&reducer, before.clone(), fold.clone(), changed.as_ref(), rest)
            });
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
                let mut effects = catch_unwind(attempt).unwrap_or_else(panics).unwrap_or_default();
                let path = scalar.path.as_str();
                let with = |text: &str| {
                    let changed = record(*position, text);
                    run(&reducer, before.clone(), fold.clone(), changed.as_ref(), rest)
                };
                let notes = AssertUnwindSafe(|| notes(scalar, text, &effects, &base[1], with));
                effects.extend(catch_unwind(notes).unwrap_or_else(panics).unwrap_or_default());
                if unordered.contains(path) {
                    effects.insert("unordered".to_owned());
                }
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

/// What else becomes of a value that is there as it is: of a large number, and of the field without a value.
fn notes(
    scalar: &Scalar,
    text: &str,
    effects: &Effects,
    base: &Fold,
    with: impl Fn(&str) -> [Fold; 2],
) -> Option<Effects> {
    let mut notes = Effects::new();
    if scalar.value.is_string() || plain(effects).next().is_none() {
        return None;
    }
    if scalar.value.is_i64() {
        let [_, large] = with(&scalar.replace(text, &LARGE.into()));
        notes.extend(rounded(effects, base, &large));
    }
    if let Some(absent) = scalar.without(text) {
        let [_, absent] = with(&absent);
        notes.extend(defaults(effects, base, &absent));
    }
    Some(notes)
}

/// The lists of strings of a record that are in another order in its fold.
fn unordered(text: &str, with: impl Fn(&str) -> [Fold; 2]) -> BTreeSet<String> {
    let mut lists = BTreeMap::<String, Vec<Scalar>>::new();
    for scalar in scalars(text).into_iter().filter(Scalar::is_listed) {
        lists.entry(scalar.path.clone()).or_default().push(scalar);
    }
    lists.retain(|_, list| {
        let mark = |index: usize| format!("Od{index:03}Q");
        // The last one first, so that the places of the others remain.
        let marked =
            list.iter().enumerate().rev().fold(text.to_owned(), |text, (index, scalar)| {
                let value = scalar.value.as_str().unwrap_or_default();
                scalar.replace(&text, &Value::from(format!("{value}{}", mark(index))))
            });
        let marks: Vec<_> = (0..list.len()).map(mark).collect();
        list.len() > 1 && !in_order(&with(&marked)[1], &marks)
    });
    lists.into_keys().collect()
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

/// The law of accounts for any consumer: every scalar of every event has an effect on what the consumer makes of them.
///
/// `consume` returns it as text. The effects are `shown`, if the new value is in the text, or `decides`. As in
/// [`account`](super::account), they are compared with those that `accounts` declares; its types are the names of events.
///
/// ```
/// use foldline_domain::{DomainEvent, NormalizedEntry, NormalizedEntryType};
/// use foldline_testkit::law;
///
/// let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, "hello");
/// let events = [DomainEvent::entry(entry)];
/// let shouts = |events: &[DomainEvent]| events.iter().map(DomainEvent::name).collect::<String>();
/// let violation = law::consumer_account(shouts, &events, None).unwrap_err().to_string();
/// assert!(violation.contains("new_entry data.entry.content = dropped: ?"), "{violation}");
/// ```
///
/// # Errors
/// All fields with another effect, in the syntax of [`Accounts`].
pub fn consumer_account<E>(
    consume: impl Fn(&[E]) -> String,
    events: &[E],
    accounts: Option<&Accounts>,
) -> Result<usize, Violation>
where
    E: Clone + Serialize + DeserializeOwned,
{
    caught(Law::Account, Place::Unknown, || {
        let mut observed = Accounts::default();
        let (before, mut count) = (consume(events), 0);
        for (index, event) in events.iter().enumerate() {
            let Ok(text) = serde_json::to_string(event) else { continue };
            let value: Value = serde_json::from_str(&text).unwrap_or_default();
            let kind =
                value["event"].as_str().or(value["type"].as_str()).unwrap_or_default().to_owned();
            for scalar in scalars(&text) {
                let mut effects = Effects::new();
                let mut is_event = false;
                for change in scalar.changes() {
                    let Ok(new) = serde_json::from_str::<E>(&scalar.replace(&text, &change.new))
                    else {
                        continue;
                    };
                    is_event = true;
                    let mut changed = events.to_vec();
                    changed[index] = new;
                    let after = consume(&changed);
                    let shown = change.new.to_string();
                    let is_shown = MARKS.iter().all(|mark| after.contains(mark))
                        || (!before.contains(&shown) && after.contains(&shown));
                    if after != before {
                        effects.insert(if is_shown { "shown" } else { "decides" }.to_owned());
                        break;
                    }
                }
                if is_event {
                    count += 1;
                    observed.observe(&kind, &scalar.path, effects);
                }
            }
        }
        match problems(&observed, accounts) {
            None => Ok(count),
            Some(problems) => {
                let message = "the consumer does not account for these fields as declared";
                Err(Violation::new(Law::Account, Place::Completion, message)
                    .text("observed", problems))
            }
        }
    })
}
