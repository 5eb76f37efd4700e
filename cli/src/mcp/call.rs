//! [`Call`]: a question of a client, with what every tool needs to answer it.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    sync::Arc,
};

use foldline_database::query::{Grouping, SessionFilter, SessionName, SessionOrder, SessionRow};
use foldline_domain::{NormalizedEntry, pricing::Prices};
use jiff::{Timestamp, tz::TimeZone};

use super::{
    arguments::{self, Bounds, LEAST_TOKENS, Object, Scope},
    page::Page,
    quote::line,
    redaction::Redaction,
    tokens::Tokens,
};
use crate::{
    answer::{Filters, Kind, Opened, Value, find, short_id, when},
    error::Error,
    exit,
    program::Program,
};

/// The tokens that an answer needs in addition to the call that gets the rest of it: its first line, the beginning of
/// a result, and the number of results that are left.
const ROOM: u32 = 100;

const DAMAGED: &str =
    "The database is damaged: the answer may be incomplete. `foldline check` says more.\n";

/// A question of a client, with the database that answers it.
pub(crate) struct Call<'a> {
    pub(crate) program: &'a Program,
    pub(crate) database: &'a Opened,
    pub(crate) prices: &'a Arc<Prices>,
    pub(crate) zone: &'a TimeZone,
    /// The folders of the caller's project; empty if it has none.
    pub(crate) folders: &'a [String],
    redaction: RefCell<Redaction>,
    /// The name of the tool, and its arguments.
    asked: (&'a str, &'a Object),
    budget: Cell<Tokens>,
    names: RefCell<BTreeMap<i64, String>>,
}

impl<'a> Call<'a> {
    /// A call that redacts if the server or its bounds say so.
    pub(crate) fn new(
        program: &'a Program,
        database: &'a Opened,
        (prices, zone): (&'a Arc<Prices>, &'a TimeZone),
        folders: &'a [String],
        asked: (&'a str, &'a Object),
        redacts: bool,
    ) -> Self {
        let redaction = RefCell::new(Redaction::new(redacts));
        let (budget, names) = (Cell::new(Tokens::new(LEAST_TOKENS)), RefCell::default());
        Self { program, database, prices, zone, folders, redaction, asked, budget, names }
    }

    /// The same caller with another question.
    pub(crate) fn asking(&self, tool: &'a str, arguments: &'a Object) -> Self {
        let redacts = self.redacts();
        let defaults = (self.prices, self.zone);
        Self::new(self.program, self.database, defaults, self.folders, (tool, arguments), redacts)
    }

    /// Takes the bounds of the arguments.
    ///
    /// # Errors
    /// The answer has no room for anything but the call that gets the rest of it, which repeats the arguments.
    pub(crate) fn bound(&self, bounds: &Bounds) -> Result<(), Error> {
        let budget = bounds.budget()?;
        let rest = self.again(&[("offset", u32::MAX.into())]);
        let least = Tokens::of(&rest).plus(Tokens::new(ROOM));
        if budget < least {
            return Err(Error::WrongUse(format!(
                "arguments as long as these need max_tokens: {} or more",
                least.count()
            )));
        }
        self.budget.set(budget);
        if bounds.redact {
            *self.redaction.borrow_mut() = Redaction::new(true);
        }
        Ok(())
    }

    /// Whether secrets are replaced.
    pub(crate) fn redacts(&self) -> bool {
        self.redaction.borrow().is_on()
    }

    /// The entry, without secrets if they are replaced.
    pub(crate) fn entry(&self, entry: NormalizedEntry) -> NormalizedEntry {
        self.redaction.borrow_mut().entry(entry)
    }

    /// A text of a log on one line of at most `most` characters, without secrets if they are replaced.
    pub(crate) fn line(&self, text: &str, most: usize) -> String {
        line(&self.redaction.borrow_mut().text(text), most)
    }

    /// A text, without secrets if they are replaced.
    pub(crate) fn text(&self, text: &str) -> String {
        self.redaction.borrow_mut().text(text)
    }

    /// Allows this many tokens for the answer.
    pub(crate) fn allow(&self, budget: Tokens) {
        self.budget.set(budget);
    }

    /// The tokens that the answer may have, with room to say that the database is damaged.
    pub(crate) fn budget(&self) -> Tokens {
        let damage = self.damage().map(Tokens::of).unwrap_or_default();
        self.budget.get().less(damage).unwrap_or_default()
    }

    /// The first line of an answer from a damaged database.
    fn damage(&self) -> Option<&'static str> {
        (self.database.exit_code() != exit::SUCCESS).then_some(DAMAGED)
    }

    /// An answer within the budget; one from a damaged database says so.
    pub(crate) fn with_damage(&self, answer: String) -> String {
        let Some(damage) = self.damage() else { return answer };
        // The damage may have been found after the answer began: its last line is not cut.
        let end = answer.trim_end().rfind('\n').map_or(0, |end| end + 1);
        let (text, end) = answer.split_at(end);
        let mut page = Page::beginning(self.budget.get(), damage).keeping(end);
        page.push_beginning(text);
        page.finish(end)
    }

    /// The same call with some other arguments, as text that a client can repeat.
    pub(crate) fn again(&self, instead: &[(&str, serde_json::Value)]) -> String {
        let (tool, arguments) = self.asked;
        arguments::call(tool, arguments, instead)
    }

    /// The filter of sessions and of the time.
    pub(crate) fn filter(&self, scope: &Scope) -> Result<SessionFilter, Error> {
        let filters = Filters {
            since: scope.since.clone(),
            until: scope.until.clone(),
            timezone: Some(self.zone.clone()),
            agent: scope.agent.clone(),
            project: scope.project.clone(),
            ..Filters::default()
        };
        filters.check_agent(self.program, Some(&**self.database))?;
        let is_limited = scope.project.is_none() && !scope.all_projects;
        let folders = if is_limited { self.folders.to_vec() } else { Vec::new() };
        Ok(SessionFilter { folders, ..filters.chosen()? })
    }

    /// The answer without results: it says what it is about.
    pub(crate) fn nothing(&self, what: &str, scope: &Scope, offset: u32) -> String {
        if offset > 0 {
            return format!("There are no results after the first {offset}.\n");
        }
        let is_limited = !scope.all_projects && !self.folders.is_empty();
        let (of, hint) = match (&scope.project, is_limited) {
            (Some(_), _) => {
                ("that project", " all_projects: true, without project, asks about all.")
            }
            (None, true) => ("the project that you work in", " all_projects: true asks about all."),
            (None, false) => ("all projects", ""),
        };
        format!("{what} in sessions of {of}.{hint}\n")
    }

    /// The session with this name, of any project; `latest` and `latest~2` are of the caller's project.
    pub(crate) fn session(&self, name: &str) -> Result<SessionRow, Error> {
        let offset = name.strip_prefix("latest").and_then(|rest| match rest {
            "" => Some(0),
            rest => rest.strip_prefix('~')?.parse().ok(),
        });
        let filter = match offset {
            Some(offset) => SessionFilter {
                folders: self.folders.to_vec(),
                is_listed: true,
                grouping: Grouping::Trees,
                offset,
                limit: Some(1),
                ..SessionFilter::default()
            },
            None => {
                let number = find::session(&**self.database, name, &Filters::default())?;
                return self.database.session_row(number)?.ok_or(Error::NoSession);
            }
        };
        let found = self.database.sessions(&filter, SessionOrder::Latest)?;
        found.into_iter().next().ok_or(Error::NoSession)
    }

    /// The name by which an answer cites a session: the beginning of its id where that names no other session, and
    /// else its number in the database. A log cannot choose what it says.
    pub(crate) fn name(&self, number: i64, id: Option<&str>) -> Result<String, Error> {
        if let Some(name) = self.names.borrow().get(&number) {
            return Ok(name.clone());
        }
        let short = id.map(short_id).filter(|short| is_plain(short));
        let is_only = |short: &String| -> Result<bool, Error> {
            let name = Some(SessionName::IdBegins(short.clone()));
            let filter = SessionFilter { name, ..SessionFilter::default() };
            Ok(self.database.session_count(&filter)? == 1)
        };
        let name = match short {
            Some(short) if is_only(&short)? => short,
            _ => number.to_string(),
        };
        self.names.borrow_mut().insert(number, name.clone());
        Ok(name)
    }

    /// A moment, to the minute.
    pub(crate) fn minute(&self, at: Option<i64>) -> String {
        Value::from(at).shown(Kind::Minute, self.zone)
    }

    /// Whether a session seems to be running: it may be the caller's own.
    pub(crate) fn is_running(session: &SessionRow) -> bool {
        let now = Timestamp::now().as_millisecond();
        let grew = session.written.is_some_and(|at| at > when::running_since(now));
        session.outcome.is_none() && grew
    }
}

/// The filter of one session.
pub(crate) fn of_number(number: i64) -> SessionFilter {
    SessionFilter { name: Some(SessionName::from(number)), ..SessionFilter::default() }
}

/// Whether a short id can be cited: letters, digits and dashes, which no other form of a name has.
fn is_plain(short: &str) -> bool {
    let is_of_id = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_number = short.bytes().all(|byte| byte.is_ascii_digit());
    !short.is_empty() && !is_number && !short.starts_with("latest") && short.chars().all(is_of_id)
}
