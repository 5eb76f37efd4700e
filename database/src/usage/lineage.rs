//! [`Lineage`]: which sessions descend from one another.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use foldhash::HashMap;
use foldline_domain::{SessionId, Timestamp};

use super::SessionUsage;

/// The ids of sessions and of their ancestors, as in the view `lineage`.
pub(super) struct Lineage<'s> {
    /// The ids of the sessions.
    known: HashSet<&'s str>,
    parents: HashMap<&'s str, BTreeSet<&'s str>>,
}

impl<'s> Lineage<'s> {
    pub(super) fn of(sessions: &'s [&mut SessionUsage]) -> Self {
        let (mut known, mut parents) = (HashSet::new(), HashMap::default());
        for SessionUsage { session_id, parent_session_id, .. } in sessions.iter().map(|it| &**it) {
            let Some(id) = session_id.as_ref().map(SessionId::as_str) else { continue };
            known.insert(id);
            if let Some(parent) = parent_session_id {
                parents.entry(id).or_insert_with(BTreeSet::new).insert(parent.as_str());
            }
        }
        Self { known, parents }
    }

    /// Which of the sessions with a message of a thread, at this moment, did not copy it: no earlier one is an ancestor, or
    /// has an ancestor in common that is in no log. The view `copied_usage` has the others.
    pub(super) fn originals(
        &self,
        mut told: Vec<(usize, Option<Timestamp>)>,
        sessions: &'s [&mut SessionUsage],
    ) -> Vec<usize> {
        let began = |at: &usize| {
            let moment = sessions.get(*at).and_then(|session| session.started_at);
            moment.map_or(0, Timestamp::as_millis)
        };
        // Most messages have one.
        if told.len() > 1 {
            told.sort_by_cached_key(|(at, used)| (began(at), *used, *at));
        }
        let mut tellers: Vec<usize> = told.into_iter().map(|(at, _)| at).collect();
        if tellers.len() < 2 {
            return tellers;
        }
        let (mut earlier, mut lost) = (HashSet::new(), HashSet::new());
        let mut lines = BTreeMap::new();
        for teller in &tellers {
            let line = sessions.get(*teller).map(|session| self.line(session)).unwrap_or_default();
            lines.insert(*teller, line);
        }
        tellers.retain(|teller| {
            let line = lines.get(teller).map(Vec::as_slice).unwrap_or_default();
            let is_lost = |id: &&&str| !self.known.contains(**id);
            let is_copy = line.iter().any(|id| earlier.contains(id) || lost.contains(id));
            lost.extend(line.iter().filter(is_lost).copied());
            let own = sessions.get(*teller).and_then(|session| session.session_id.as_ref());
            earlier.extend(own.map(SessionId::as_str));
            !is_copy
        });
        tellers
    }

    /// The ids of a session and of its ancestors.
    fn line(&self, session: &'s SessionUsage) -> Vec<&'s str> {
        let SessionUsage { session_id, parent_session_id, .. } = session;
        let own = session_id.iter().chain(parent_session_id).map(SessionId::as_str);
        let mut line: Vec<&str> = own.collect();
        let mut seen: HashSet<&str> = line.iter().copied().collect();
        let mut next = 0;
        while let Some(id) = line.get(next).copied() {
            let parents = self.parents.get(id).into_iter().flatten();
            line.extend(parents.filter(|parent| seen.insert(parent)));
            next += 1;
        }
        line
    }
}
