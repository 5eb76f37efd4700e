//! Logs that state the tokens of a session whose conversation is in another log.

use foldhash::HashMap;

use super::SessionUsage;

/// Adds to each session the usage of its companions, and removes those. A companion is a session without entries; it
/// belongs to the first session of the same agent and the same id that has entries. Two sessions with entries, such as a
/// session and its resumption, stay two.
///
/// A database has the same rule for its queries.
#[must_use]
pub fn join_companions(sessions: Vec<SessionUsage>) -> Vec<SessionUsage> {
    let (companions, mut told): (Vec<_>, Vec<_>) =
        sessions.into_iter().enumerate().partition(|(_, session)| session.entries == 0);
    let key = |session: &SessionUsage| Some((session.agent.clone()?, session.session_id.clone()?));
    let mut firsts = HashMap::default();
    for (at, (_, session)) in told.iter().enumerate() {
        if let Some(key) = key(session) {
            firsts.entry(key).or_insert(at);
        }
    }
    let mut alone = Vec::new();
    for (place, companion) in companions {
        let first = key(&companion).and_then(|key| firsts.get(&key));
        match first.and_then(|at| told.get_mut(*at)) {
            Some((_, session)) => session.take(companion),
            None => alone.push((place, companion)),
        }
    }
    told.append(&mut alone);
    told.sort_by_key(|(place, _)| *place);
    told.into_iter().map(|(_, session)| session).collect()
}

impl SessionUsage {
    /// Takes the usage of a companion, and the facts that only it states.
    fn take(&mut self, companion: Self) {
        self.parent_session_id = self.parent_session_id.take().or(companion.parent_session_id);
        self.cwd = self.cwd.take().or(companion.cwd);
        self.branch = self.branch.take().or(companion.branch);
        self.messages.extend(companion.messages);
    }
}
