//! The law of accounts.

mod effect;
mod examine;
mod scalar;
mod table;

use std::collections::BTreeMap;

use foldline_agents::DynExecutor;

use self::examine::{Examined, examine};
pub use self::table::{Accounts, NotAccounts};
pub(super) use self::{
    effect::{Difference, Effects, Leaf},
    scalar::{MARKS, name, scalars},
};
use super::{Law, Place, Violation, totality::Reading};
use crate::violation::caught;

/// The law of accounts: every scalar of every record is accounted for in the fold that consumers see.
///
/// Each scalar is replaced by another value of its type, one at a time: a string gets marks at its beginning, inside
/// and at its end; a number or a time grows by a prime; a truth value is flipped. The log is folded again, and the
/// difference between the two folds is the effect. The effect has to be one that `accounts` declares for the field; with
/// `None`, a field only has to have an effect. JSON within strings is examined too. A record of an unknown type has to be
/// kept whole, as a diagnostic.
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
pub(super) fn problems(observed: &Accounts, declared: Option<&Accounts>) -> Option<String> {
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
