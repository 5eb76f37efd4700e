//! `foldline allowed`: what agents were allowed to do without asking, and since when.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use clap::{Args, builder::PossibleValuesParser};
use foldline_database::query::{AuthorityRow, SessionFilter};
use foldline_domain::Allowed;

use crate::{
    answer::{AskArgs, Kind, Listing, Value, answer},
    error::Error,
    program::Program,
};

/// The options of `foldline allowed`.
#[derive(Debug, Args)]
pub(crate) struct AllowedArgs {
    /// List the sessions that were allowed this
    #[arg(value_parser = PossibleValuesParser::new(Allowed::NAMES))]
    level: Option<String>,

    #[command(flatten)]
    ask: AskArgs,
}

/// `foldline allowed`.
pub(crate) fn run(program: &Program, args: &AllowedArgs) -> Result<u8, Error> {
    answer(program, &args.ask, |asked| {
        let level = args.level.as_ref().and_then(|level| level.parse().ok());
        let allowed = level.or(asked.filter.allowed);
        let rows =
            asked.database.authority_of(&SessionFilter { allowed, ..asked.filter.clone() })?;
        Ok(if level.is_some() { sessions(&rows) } else { levels(&rows) })
    })
}

/// The times of one level, or of one session. The first of the rows is the latest.
struct Times<'r> {
    last: &'r AuthorityRow,
    since: Option<i64>,
    sessions: BTreeSet<i64>,
    modes: BTreeSet<String>,
}

impl<'r> Times<'r> {
    fn by<K: Ord>(rows: &'r [AuthorityRow], key: impl Fn(&AuthorityRow) -> K) -> BTreeMap<K, Self> {
        let mut all = BTreeMap::new();
        for row in rows {
            let times = all.entry(key(row)).or_insert_with(|| Self {
                last: row,
                since: row.since,
                sessions: BTreeSet::new(),
                modes: BTreeSet::new(),
            });
            times.since = times.since.into_iter().chain(row.since).min();
            times.sessions.insert(row.session);
            times.modes.insert(row.authority.words());
        }
        all
    }

    fn modes(&self) -> Value {
        let modes: Vec<_> = self.modes.iter().map(String::as_str).collect();
        Value::Text(modes.join("; "))
    }

    fn session(&self) -> [Value; 4] {
        let AuthorityRow { session, session_id, title, project, .. } = self.last;
        let text = |text: &Option<String>| text.as_deref().map_or(Value::Null, Value::from);
        [Value::Integer(*session), text(session_id), text(title), text(project)]
    }
}

/// The levels as rows, the one that allows the most first.
fn levels(rows: &[AuthorityRow]) -> Listing {
    let columns = "allowed modes sessions since until session session_id title project";
    let mut listing = timed(Listing::named(columns)).with_keys(1).dropping("project modes title");
    let levels = Times::by(rows, |row| Reverse(row.authority.allowed));
    listing.rows.extend(levels.iter().map(|(Reverse(allowed), times)| {
        let allowed = allowed.map_or(Value::Null, |allowed| allowed.as_str().into());
        let sessions = Value::Integer(i64::try_from(times.sessions.len()).unwrap_or(i64::MAX));
        let first = [allowed, times.modes(), sessions, times.since.into(), times.last.until.into()];
        first.into_iter().chain(times.session()).collect()
    }));
    listing
}

/// The sessions as rows, the latest first.
fn sessions(rows: &[AuthorityRow]) -> Listing {
    let columns = "session session_id title project agent modes since until";
    let mut listing = timed(Listing::named(columns)).dropping("agent project modes title");
    let sessions = Times::by(rows, |row| row.session);
    let mut sessions: Vec<_> = sessions.values().collect();
    sessions.sort_by_key(|times| Reverse(times.last.until));
    listing.rows.extend(sessions.into_iter().map(|times| {
        let agent = times.last.agent.as_deref().map_or(Value::Null, Value::from);
        let last = [agent, times.modes(), times.since.into(), times.last.until.into()];
        times.session().into_iter().chain(last).collect()
    }));
    listing
}

fn timed(listing: Listing) -> Listing {
    let listing = listing.with_kind(Kind::Minute, &["since", "until"]);
    listing.with_kind(Kind::Text, &["modes"]).without_in_tables("session")
}
