//! Sessions in two logs: one log has the conversation, its companion states more, such as the tokens.
//!
//! A session without entries is a companion of the first session of the same agent and the same id that has entries.
//! An agent that writes a file next to a conversation gives both the same id, and nothing in a log without entries
//! could be shown as a session of its own. Two logs with entries, such as a session and its resumption, stay two
//! sessions, since the entries of each are only in its own log. The rule needs neither a format nor a path, so it
//! holds for logs that were moved, and for those that come from different machines.
//!
//! A transcript of Cursor is a companion although it has entries: it repeats the conversation of a chat of the same id,
//! without ids, times and results. It is a session of its own where the chat is not stored.
//! The views `companions` have the same pairs, for the view `cost`, which asks about all sessions at once.
//! [`join_companions`](crate::usage::join_companions) is the same rule for sessions that were read from logs.

/// Whether a row of `sessions` is of a transcript.
macro_rules! is_transcript {
    ($session:literal) => {
        concat!(
            "((SELECT format FROM sources WHERE sources.id = ",
            $session,
            ".source) = 'cursor-transcript')"
        )
    };
}

/// The companions, each with its session. The index of `session_id` finds either from the other.
pub(super) const COMPANIONS: &str = concat!(
    "(
    SELECT companion.id AS companion, whole.id AS session
    FROM sessions AS companion
    JOIN sessions AS whole ON whole.session_id = companion.session_id AND whole.agent = companion.agent
    WHERE (companion.entries = 0 OR (",
    is_transcript!("companion"),
    " AND NOT ",
    is_transcript!("whole"),
    ")) AND whole.entries > 0 AND NOT EXISTS (
        SELECT 1 FROM sessions AS earlier
        WHERE earlier.session_id = whole.session_id AND earlier.agent = whole.agent
        AND earlier.entries > 0 AND (",
    is_transcript!("earlier"),
    ", earlier.id) < (",
    is_transcript!("whole"),
    ", whole.id)
    )
)"
);

/// The ids of the companions that have entries, which are not shown: they repeat those of a chat. Few sources are of
/// transcripts, so the ids are found once for a query.
pub(super) fn repeated() -> String {
    format!(
        "SELECT repeated.id FROM sources JOIN sessions AS repeated ON repeated.source = sources.id
         WHERE sources.format = 'cursor-transcript' AND repeated.entries > 0
         AND EXISTS (SELECT 1 FROM {COMPANIONS} AS pairs WHERE companion = repeated.id)"
    )
}

/// A condition on a row of `sessions`: it is not a companion.
pub(super) fn is_whole() -> String {
    format!(
        "((sessions.entries > 0 AND NOT {})
          OR NOT EXISTS (SELECT 1 FROM {COMPANIONS} AS pairs WHERE companion = sessions.id))",
        is_transcript!("sessions")
    )
}

/// The session that the row with this id belongs to.
pub(super) fn whole(id: &str) -> String {
    format!("coalesce((SELECT session FROM {COMPANIONS} AS pairs WHERE companion = {id}), {id})")
}

/// The ids of these sessions, and of their companions.
pub(crate) fn with_companions(ids: &str) -> String {
    format!(
        "SELECT id FROM sessions WHERE id IN ({ids})
         UNION ALL SELECT companion FROM {COMPANIONS} AS pairs WHERE session IN ({ids})"
    )
}

/// A fact of a row of `sessions`, or else that of its first companion that states it.
pub(super) fn fact(column: &str) -> String {
    format!(
        "coalesce(sessions.{column}, (
             SELECT stated.{column} FROM {COMPANIONS} AS pairs JOIN sessions AS stated ON stated.id = pairs.companion
             WHERE pairs.session = sessions.id AND stated.{column} IS NOT NULL ORDER BY stated.id LIMIT 1))"
    )
}
