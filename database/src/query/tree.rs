//! Sessions as trees: a session that is a part of another one, such as that of a sub-agent, belongs to it.
//!
//! The views `parts` and `trees` decide what belongs together, from what the logs state, whichever log is read first. A
//! session whose whole is in no log is a tree of its own, and so is a fork.

use super::{
    companions::COMPANIONS,
    sql::{LATEST, WAITING},
};

/// What a row of an answer stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// Each session for itself.
    #[default]
    Sessions,
    /// The session that a person began, with all its parts. A condition holds if it holds for one of them.
    Trees,
}

impl Grouping {
    /// All sessions, each with the session whose row has it: the columns `session` and `root`.
    pub(super) fn members(self) -> &'static str {
        match self {
            Self::Sessions => "SELECT id AS session, id AS root FROM sessions",
            Self::Trees => "SELECT session, root FROM trees",
        }
    }

    /// The beginning of a query for rows of sessions: `everything`, the sessions with the `root` whose row has them, and
    /// `heads`, the roots with what is asked of all their members: the moment of the last activity, that of the last
    /// growth of a log, and how many wait for a person.
    pub(super) fn with_heads(self) -> String {
        let waiting =
            format!("(SELECT count(*) FROM tool_calls WHERE session = sessions.id AND {WAITING})");
        let members = self.members();
        match self {
            // Nothing is read of sessions that are not asked about.
            Self::Sessions => format!(
                "WITH everything AS NOT MATERIALIZED ({members}),
                 heads AS NOT MATERIALIZED (
                     SELECT sessions.id AS root, {LATEST} AS latest, modified_at AS written, {waiting} AS waiting
                     FROM sessions JOIN sources ON sources.id = sessions.source
                 )"
            ),
            Self::Trees => format!(
                "WITH everything AS MATERIALIZED ({members}),
                 heads AS MATERIALIZED (
                     SELECT root, max({LATEST}) AS latest, max(modified_at) AS written, sum({waiting}) AS waiting
                     FROM everything JOIN sessions ON sessions.id = everything.session
                     JOIN sources ON sources.id = sessions.source GROUP BY root
                 )"
            ),
        }
    }

    /// A condition on a row of `sessions`, from one on any of its members.
    pub(super) fn any(self, members: String) -> String {
        match self {
            _ if members == "true" => members,
            Self::Sessions => members,
            Self::Trees => format!(
                "sessions.id IN (SELECT root FROM everything WHERE session IN (
                     SELECT sessions.id FROM sessions WHERE {members}))"
            ),
        }
    }
}

/// The members of a relation with the columns `session` and `root`, and their [companions](super::companions): the
/// column `whole` is the session whose facts a row has.
pub(super) fn with_rows(members: &str) -> String {
    format!(
        "SELECT session, session AS whole, root FROM {members}
         UNION ALL SELECT companion, pairs.session, root
         FROM {members} JOIN {COMPANIONS} AS pairs ON pairs.session = {members}.session"
    )
}

/// The index of the entry with the call that started a row of `sessions`, in the session that it is a part of: the call
/// that it names, or that names it.
pub(super) const CALL: &str = "(
    SELECT coalesce(min(named.idx), min(naming.idx)) FROM parts
    LEFT JOIN tool_calls AS call ON call.corr_id = sessions.parent_call AND call.session = parts.whole
    LEFT JOIN entries AS named ON named.id = call.entry
    LEFT JOIN tool_calls AS caller ON caller.child_session_id = sessions.session_id AND caller.session = parts.whole
    LEFT JOIN entries AS naming ON naming.id = caller.entry
    WHERE parts.part = sessions.id
)";
