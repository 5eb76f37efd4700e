//! Families: sessions that descend from one another, as forks do. Their logs repeat messages that have no id of their own,
//! which are one message among them: see [`OF_THREAD`](foldline_domain::OF_THREAD).
//!
//! A session with a parent has the first of its ancestors as its family; that of any other session is its own id. The
//! logs of ancestors may be read later, or never.

use foldline_domain::OF_THREAD;

/// Sets the family of a session with a parent; its number is a parameter.
pub(crate) fn of_parent(id: &str) -> String {
    format!(
        "UPDATE sessions SET family = coalesce((
             SELECT coalesce(parent.family, parent.session_id) FROM sessions AS parent
             WHERE parent.session_id = sessions.parent_session_id
             ORDER BY parent.family IS NULL, parent.id LIMIT 1), parent_session_id)
         WHERE id = {id} AND parent_session_id <> coalesce(session_id, '')"
    )
}

/// The family and the id of a session which was the first ancestor of others until now.
pub(crate) fn moved(id: &str) -> String {
    format!(
        "SELECT family, session_id FROM sessions WHERE id = {id} AND family <> session_id
         AND EXISTS (SELECT 1 FROM sessions AS child WHERE child.family = sessions.session_id)"
    )
}

/// An expression for the sessions among which a message is one: the family of a session, which the alias of a row of
/// `sessions` names, for a message of a thread.
pub(crate) fn scope(message_id: &str, session: &str) -> String {
    format!(
        "CASE WHEN {message_id} LIKE '{OF_THREAD}%'
              THEN coalesce({session}.family, {session}.session_id, CAST({session}.id AS TEXT)) END"
    )
}
