//! [`Accounts`]: the declared accounts of a format.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    str::FromStr,
};

use foldline::laws::{Law, Place, Violation, same};
use foldline_agents::DynExecutor;

use super::effect::Effects;

/// The reason in a generated line, which the author of the executor replaces.
const UNSTATED: &str = "?";

/// Declares, for each field of each type of record, what becomes of it: the content of an account file.
///
/// A line is `TYPE PATH = EFFECT; EFFECT | EFFECT`: the effects in one kind of record, and those in another. The type is [`Header::name`](foldline_agents::Header), `-` for an empty one.
/// In the path, names are separated by dots, `*` is any element of an array or any name that is data, and JSON in a
/// string follows after a colon. Lines that begin with `#` are comments, which are kept at the head of the file. The
/// effects:
///
/// | effect | the value |
/// | --- | --- |
/// | `user_message.content` | is in this place of the [`Fold`](crate::Fold), unchanged: of an entry of this type or action, of `session`, `usage`, `warning` |
/// | `.. (within)`, `.. (part)` | is a part of a longer text; a part of it is there |
/// | `.. (twice)`, `.. (often)` | is there several times |
/// | `.. (sum)` | is added to other numbers there |
/// | `.. (altered)` | is there, but the value that the log has is there in another form: trimmed, rounded, absent if it is zero |
/// | `.. (rounded)` | a number beyond 2^53 is there as another one |
/// | `.. (default)` | if the field is absent, another value is there |
/// | `unordered` | elements of this list are there in another order |
/// | `.. (later)` | only a later record, or the end of the log, brings it there |
/// | `.. x1000` | is there in another unit; `x-1` is subtracted from another number |
/// | `ok -> status.status=success` | if it is `ok`, gives this value |
/// | `user -> +user_message` | if it is `user`, gives such an entry |
/// | `decides` | has another effect |
/// | `checked` | is only reported if it is unexpected |
/// | `dropped: REASON` | has no effect. The reason `?` of a generated line counts as none |
///
/// The path `(again)` is a repetition of the whole record: `nothing`, `+user_message`, `changes usage`. A line whose only effect is `dropped` also covers the fields within
/// its path, and its type may end with `*` for any end.
///
/// ```
/// use foldline_agents::droid::Droid;
/// use foldline_testkit::law::Accounts;
///
/// let log = br#"{"type":"message","role":"user","id":"m1","text":"hi","timestamp":1}"#;
/// let accounts = Accounts::of(Droid, [log]);
/// assert!(accounts.to_string().contains("message text = user_message.content\n"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accounts {
    comments: Vec<String>,
    fields: BTreeMap<(String, String), Account>,
}

/// What becomes of a field.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Account {
    /// The effects in different records.
    pub(super) effects: BTreeSet<Effects>,
    /// The reason why it is dropped, in some records or in all.
    pub(super) dropped: Option<String>,
}

impl Account {
    /// Whether these effects, or none, are declared. A generated line without a reason declares nothing.
    pub(super) fn declares(&self, effects: &Effects) -> bool {
        match effects.is_empty() {
            true => self.dropped.as_deref().is_some_and(|reason| reason != UNSTATED),
            false => self.effects.contains(effects),
        }
    }
}

/// A line of an account file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the accounts, {text:?}: {reason}")]
pub struct NotAccounts {
    line: usize,
    text: String,
    reason: &'static str,
}

impl Accounts {
    /// Adds an observation. A field that is dropped has no reason yet.
    pub(in crate::law) fn observe(&mut self, kind: &str, path: &str, effects: Effects) {
        let account = self.fields.entry((kind.to_owned(), path.to_owned())).or_default();
        match effects.is_empty() {
            true => drop(account.dropped.get_or_insert_with(|| UNSTATED.to_owned())),
            false => drop(account.effects.insert(effects)),
        }
    }

    /// Requires that these accounts are those of the logs: every effect that is declared was observed, and the other way
    /// round, and every field that is dropped has a reason.
    ///
    /// # Errors
    /// The lines that differ, and the fields without a reason.
    pub fn check<L: AsRef<[u8]>>(
        &self,
        executor: impl Into<DynExecutor>,
        logs: impl IntoIterator<Item = L>,
    ) -> Result<(), Violation> {
        let observed = Self::of(executor, logs).renewed(self);
        let (law, place) = (Law::Account, Place::Completion);
        let message = "the accounts are not those of the logs";
        same(law, ["declared", "observed"], place, message, &Lines(self), &Lines(&observed))?;
        let unexplained: Vec<_> = observed.unexplained().collect();
        let message = "fields are dropped, and no reason is declared";
        match unexplained.is_empty() {
            true => Ok(()),
            false => {
                Err(Violation::new(law, place, message).text("fields", unexplained.join("\n")))
            }
        }
    }

    /// The account of a field.
    pub(super) fn get(&self, kind: &str, path: &str) -> Option<&Account> {
        let key = (kind.to_owned(), path.to_owned());
        self.fields.get(&key).or_else(|| self.covering(kind, path).map(|(_, account)| account))
    }

    /// All fields, by the type of their records and their path.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&str, &str, &Account)> {
        self.fields.iter().map(|((kind, path), account)| (kind.as_str(), path.as_str(), account))
    }

    /// A line that covers the field, which is dropped.
    fn covering(&self, kind: &str, path: &str) -> Option<(&(String, String), &Account)> {
        // A line of this very field comes last, so that the others make it superfluous.
        let is_other =
            |((of, prefix), _): &(&(String, String), &Account)| of != kind || prefix != path;
        let fields = || self.fields.iter();
        fields().filter(is_other).chain(fields()).find(|((of, prefix), account)| {
            let is_type = match of.strip_suffix('*') {
                Some(of) => kind.starts_with(of),
                None => of == kind,
            };
            account.effects.is_empty() && is_type && covers(prefix, path)
        })
    }

    /// These observations with the comments, the reasons and the covering lines of earlier accounts. A line that only
    /// declares that something is dropped stays, since other logs may have it.
    #[must_use]
    pub fn renewed(mut self, before: &Self) -> Self {
        self.comments.clone_from(&before.comments);
        let mut covering = Vec::new();
        for ((kind, path), account) in &mut self.fields {
            let known = before.get(kind, path).and_then(|before| before.dropped.as_ref());
            if account.dropped.is_some() {
                account.dropped = known.or(account.dropped.as_ref()).cloned();
            }
            let line = before.covering(kind, path);
            if account.effects.is_empty()
                && line.is_some_and(|(line, _)| *line != (kind.clone(), path.clone()))
            {
                covering.push((kind.clone(), path.clone()));
            }
        }
        covering.iter().for_each(|field| drop(self.fields.remove(field)));
        for (field, account) in &before.fields {
            let (kind, path) = field;
            let is_covered = before.covering(kind, path).is_some_and(|(line, _)| line != field);
            if account.effects.is_empty() && !is_covered {
                self.fields.entry(field.clone()).or_insert_with(|| account.clone());
            }
        }
        self
    }

    /// Whether a field is declared to have an effect; of a field of JSON within a string, also whether the string has.
    pub fn has_effect(&self, kind: &str, path: &str) -> bool {
        let outer = path.split_once(':').map_or(path, |(outer, _)| outer);
        let mut accounts = [path, outer].into_iter().filter_map(|path| self.get(kind, path));
        accounts.any(|account| !account.effects.is_empty())
    }

    /// The fields that are dropped without a stated reason, as lines.
    pub fn unexplained(&self) -> impl Iterator<Item = String> {
        let unstated = |account: &Account| account.dropped.as_deref() == Some(UNSTATED);
        let fields = self.fields.iter().filter(move |(_, account)| unstated(account));
        fields.map(|((kind, path), account)| line(kind, path, account))
    }
}

/// Whether a text is an effect, by its form.
fn is_effect(text: &str) -> bool {
    const NOTES: [&str; 10] = [
        "(within)",
        "(part)",
        "(twice)",
        "(often)",
        "(sum)",
        "(later)",
        "(altered)",
        "(not)",
        "(rounded)",
        "(default)",
    ];
    if ["decides", "checked", "nothing", "shown", "panics", "unordered"].contains(&text)
        || text.contains(" -> ")
        || text.starts_with('+')
        || text.starts_with("changes ")
    {
        return true;
    }
    let mut words = text.split(' ');
    let is_place = words.next().is_some_and(|place| place.contains('.'));
    let is_note = |word: &str| {
        NOTES.contains(&word)
            || word.strip_prefix('x').is_some_and(|factor| factor.parse::<f64>().is_ok())
    };
    is_place && words.all(is_note)
}

/// Whether a path is covered by this one, which may contain `*`.
fn covers(prefix: &str, path: &str) -> bool {
    let mut names = path.split(['.', ':']);
    prefix
        .split(['.', ':'])
        .all(|wanted| names.next().is_some_and(|name| wanted == "*" || wanted == name))
}

/// A line of an account file.
pub(super) fn line(kind: &str, path: &str, account: &Account) -> String {
    let kind = if kind.is_empty() { "-" } else { kind };
    let together = |effects: &Effects| effects.iter().cloned().collect::<Vec<_>>().join("; ");
    let dropped = account.dropped.iter().map(|reason| format!("dropped: {reason}"));
    let effects: Vec<_> = account.effects.iter().map(together).chain(dropped).collect();
    format!("{kind} {path} = {}", effects.join(" | "))
}

/// Accounts that are compared line by line.
#[derive(PartialEq)]
struct Lines<'a>(&'a Accounts);

impl fmt::Debug for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Accounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.comments.iter().try_for_each(|comment| writeln!(f, "{comment}"))?;
        let mut fields = self.fields.iter();
        fields.try_for_each(|((kind, path), account)| writeln!(f, "{}", line(kind, path, account)))
    }
}

impl FromStr for Accounts {
    type Err = NotAccounts;

    fn from_str(text: &str) -> Result<Self, NotAccounts> {
        let mut accounts = Self::default();
        for (number, text) in (1..).zip(text.lines()) {
            let wrong = |reason| NotAccounts { line: number, text: text.to_owned(), reason };
            if text.starts_with('#') {
                accounts.comments.push(text.to_owned());
                continue;
            }
            if text.trim().is_empty() {
                continue;
            }
            let (field, effects) = text.split_once(" = ").ok_or_else(|| wrong("expected ` = `"))?;
            let (kind, path) =
                field.split_once(' ').ok_or_else(|| wrong("expected a type and a path"))?;
            let (effects, dropped) = match effects.split_once("dropped: ") {
                Some((effects, reason)) => {
                    (effects.trim_end_matches(" | "), Some(reason.to_owned()))
                }
                None => (effects, None),
            };
            let records = effects.split(" | ").filter(|effects| !effects.is_empty());
            let together = |effects: &str| effects.split("; ").map(str::to_owned).collect();
            let effects: BTreeSet<Effects> = records.map(together).collect();
            if kind == "*" && path == "*" {
                return Err(wrong("a line that covers every field declares nothing"));
            }
            if kind.ends_with('*') && !effects.is_empty() {
                return Err(wrong(
                    "only a line whose fields are all dropped may cover several types",
                ));
            }
            if let Some(effect) = effects.iter().flatten().find(|effect| !is_effect(effect)) {
                return Err(wrong(if effect.is_empty() {
                    "an effect is missing"
                } else {
                    "not an effect"
                }));
            }
            if effects.is_empty()
                && dropped.as_deref().is_none_or(|reason| reason.trim().is_empty())
            {
                return Err(wrong("expected an effect, or `dropped: ` and a reason"));
            }
            let kind = if kind == "-" { "" } else { kind };
            let account = Account { effects, dropped };
            if accounts.fields.insert((kind.to_owned(), path.to_owned()), account).is_some() {
                return Err(wrong("the field is declared twice"));
            }
        }
        Ok(accounts)
    }
}
