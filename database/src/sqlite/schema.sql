-- Each `crc32` is a checksum of the columns before it (but not of `id`, nor of the entry of a tool call, which
-- are in the indices). `foldline check` compares it with the row: see the module `crc`.

-- What was read, how far, and the reducer's state there: committed together with the rows.
CREATE TABLE sources (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL UNIQUE,   -- the path it was first seen at; "#2".. for one that replaced it
    path        TEXT NOT NULL,          -- where it is now
    format      TEXT NOT NULL,          -- droid, claude-stream, ...
    device      INTEGER,
    inode       INTEGER,
    size        INTEGER NOT NULL,       -- of the whole file, when it was last read
    modified_at INTEGER,
    changed_ns  INTEGER,                -- its st_ctime in nanoseconds, if that was long enough ago to be relied on
    read_length INTEGER NOT NULL,       -- how many bytes of it are committed
    read_edges  BLOB NOT NULL,          -- digest of the beginning and the end of those
    read_sha256 BLOB,                   -- SHA-256 of all of those
    first_line  BLOB,                   -- SHA-256 of the first line, by which copies are found
    line        INTEGER NOT NULL,       -- where the next record begins, counted from 1
    offset      INTEGER NOT NULL,       -- the same in bytes, counted from 0
    state       TEXT NOT NULL,          -- the executor's state there, JSON
    complete    INTEGER NOT NULL DEFAULT 0,
    host        TEXT,                   -- the machine that it is on
    user_name   TEXT,                   -- whose file it is there
    crc32       INTEGER NOT NULL,
    -- The one that goes on. Deferred, as SQLite would else prepare to undo the statement that sets it, and write out the
    -- search index for that.
    session     INTEGER REFERENCES sessions (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    -- A log that continues in another file restarts at byte 0, and its earlier entries are further on.
    max_offset  INTEGER NOT NULL DEFAULT 0, -- the greatest offset in any of its files
    -- All of its sessions were forgotten: it is known only so that its log, and copies of that, are not read again.
    forgotten   INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX sources_by_path ON sources (path);
CREATE INDEX sources_by_inode ON sources (inode, device);
CREATE INDEX sources_by_session ON sources (session);
CREATE INDEX sources_by_host ON sources (host);
CREATE INDEX sources_by_user_name ON sources (user_name);
CREATE INDEX sources_by_first_line ON sources (first_line);
-- SQLite compares the index with the column, which no checksum covers.
CREATE INDEX sources_by_max_offset ON sources (max_offset);
CREATE INDEX sources_by_forgotten ON sources (forgotten);

-- Contents that are the beginning of a source, and the file that had each: a copy, which adds nothing.
CREATE TABLE copies (
    source     INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    sha256     BLOB NOT NULL,
    size       INTEGER NOT NULL,
    device     INTEGER,
    inode      INTEGER,
    changed_ns INTEGER,                 -- as of a source
    crc32      INTEGER NOT NULL,
    PRIMARY KEY (source, sha256)
) STRICT, WITHOUT ROWID;
CREATE INDEX copies_by_inode ON copies (inode, device);

-- A single row: which ledger this is, and how many transactions have added something of a source.
CREATE TABLE ledger (
    id        TEXT NOT NULL,            -- random
    commits   INTEGER NOT NULL,
    closed_at INTEGER,                  -- the file's own time, unless something else has written to it since
    crc32     INTEGER NOT NULL
) STRICT;
INSERT INTO ledger (id, commits, crc32) VALUES (lower(hex(randomblob(16))), 0, 0);
UPDATE ledger SET crc32 = row_crc32(id, commits, closed_at);

-- What is written beside the database, such as an audit trail, and how far it has come: committed together
-- with the rows of the same events.
CREATE TABLE outputs (
    name    TEXT PRIMARY KEY,
    state   TEXT NOT NULL,              -- JSON
    commits INTEGER NOT NULL,           -- of the ledger then; what was committed since is not in the output
    crc32   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What is committed of an output, and is written to its file after the commit.
CREATE TABLE outbox (
    output TEXT NOT NULL,               -- its name
    offset INTEGER NOT NULL,            -- in its file
    bytes  BLOB NOT NULL,
    crc32  INTEGER NOT NULL,
    PRIMARY KEY (output, offset)
) STRICT;

-- What an output has of a source that its agent rewrites, so that it does not get it again.
CREATE TABLE recorded (
    output TEXT NOT NULL,               -- its name
    source TEXT NOT NULL,               -- its name
    record BLOB NOT NULL,               -- the SHA-256 value of its content
    crc32  INTEGER NOT NULL,
    PRIMARY KEY (output, source, record)
) STRICT, WITHOUT ROWID;

-- One row a source, and another one whenever the log goes on under another session id.
CREATE TABLE sessions (
    id                INTEGER PRIMARY KEY,
    source            INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    session_id        TEXT,             -- the agent's own id
    task              TEXT,
    agent             TEXT,
    version           TEXT,
    model             TEXT,             -- the latest
    provider          TEXT,             -- who serves the model
    reasoning_effort  TEXT,
    cwd               TEXT,
    branch            TEXT,             -- of the version control there, the latest
    title             TEXT,
    tools             TEXT,             -- JSON array of names
    parent_session_id TEXT,
    parent_relation   TEXT,             -- what it is to its parent: sub_agent, fork, continuation
    parent_call       TEXT,             -- the call of its parent that started it
    outcome           TEXT,             -- success, failed, limit_reached, cancelled
    outcome_reason    TEXT,
    turns             INTEGER,
    duration_ms       INTEGER,          -- as stated
    active_ms         INTEGER NOT NULL DEFAULT 0, -- without pauses: the sum of the gaps between events up to five minutes
    started_at        INTEGER,          -- as stated
    ended_at          INTEGER,          -- as stated
    first_at          INTEGER,          -- the earliest moment seen
    last_at           INTEGER,          -- the latest moment seen
    entries           INTEGER NOT NULL DEFAULT 0, -- how many there are, or were before pruning
    pruned_to         INTEGER,          -- entries before this byte of the source were removed; NULL: none
    crc32             INTEGER NOT NULL,
    number            INTEGER NOT NULL DEFAULT 0 -- 0, 1, 2, .. within the source
) STRICT;
CREATE UNIQUE INDEX sessions_by_number ON sessions (source, number);
CREATE INDEX sessions_by_source ON sessions (source, session_id);
CREATE INDEX sessions_pruned ON sessions (source) WHERE pruned_to IS NOT NULL;
CREATE INDEX sessions_by_session_id ON sessions (session_id);
CREATE INDEX sessions_by_parent ON sessions (parent_session_id) WHERE parent_session_id IS NOT NULL;
CREATE INDEX sessions_by_task ON sessions (task);

-- Sessions that were removed for good, so that rows of them are not written again.
CREATE TABLE forgotten (
    id         INTEGER PRIMARY KEY,
    source     TEXT NOT NULL,           -- the name of its source
    number     INTEGER,                 -- within the source; NULL: the source is read again, and may renumber it
    agent      TEXT,
    session_id TEXT,
    anywhere   INTEGER NOT NULL,        -- the id is forgotten in all logs: no other session had it
    crc32      INTEGER NOT NULL
) STRICT;
CREATE INDEX forgotten_by_number ON forgotten (source, number);
CREATE INDEX forgotten_by_session_id ON forgotten (session_id);

-- What was set for this database.
CREATE TABLE settings (
    name  TEXT PRIMARY KEY,             -- keep: whether raw logs are kept, on or off
    value TEXT NOT NULL,
    crc32 INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The raw logs that are kept in a folder beside the database, up to the position that was read.
CREATE TABLE kept (
    source      TEXT PRIMARY KEY,       -- the name of the source
    file        TEXT NOT NULL,          -- the compressed copy, below the folder
    sha256      BLOB NOT NULL,          -- of the content
    size        INTEGER NOT NULL,       -- of the content
    stored_size INTEGER NOT NULL,       -- of the copy
    crc32       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX kept_by_file ON kept (file);

-- The project of a folder that an agent worked in: the root of its repository, as it was when the folder was there.
CREATE TABLE folders (
    folder  TEXT PRIMARY KEY,           -- as logs state it
    project TEXT NOT NULL,
    tree    TEXT NOT NULL,              -- the work tree that it is in; else as the project
    crc32   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE entries (
    id             INTEGER PRIMARY KEY,
    session        INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    idx            INTEGER NOT NULL,    -- 0, 1, 2, .. within the session
    type           TEXT NOT NULL,       -- user_message, assistant_message, tool_use, ...
    code           TEXT,                -- of a diagnostic: the kind of warning
    timestamp      INTEGER,
    line           INTEGER NOT NULL,    -- where in the source it stands
    offset         INTEGER NOT NULL,
    parent_corr_id TEXT,                -- of a sub-agent's entry: the call that started it
    metadata       TEXT,                -- JSON; what the columns hold is left out
    content        TEXT NOT NULL,       -- what was said; of a tool call, a short title
    output         TEXT,                -- what a tool gave back
    crc32          INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX entries_by_place ON entries (session, idx);
CREATE INDEX entries_of_errors ON entries (id) WHERE type = 'error_message';

CREATE TABLE tool_calls (
    entry       INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
    session     INTEGER NOT NULL,       -- that of the entry, with which the row is removed
    corr_id     TEXT NOT NULL,
    kind        TEXT NOT NULL,          -- read, edit, delete, move, search, execute, think, fetch, other
    action_name TEXT NOT NULL,          -- file_read, command_run, ...
    tool_name   TEXT NOT NULL,
    status      TEXT NOT NULL,          -- created, in_progress, pending_approval, success, failed, ...
    reason      TEXT,                   -- why it was denied
    duration_ms INTEGER,
    exit_code   INTEGER,
    output_json INTEGER NOT NULL DEFAULT 0, -- the output is structured data
    child_session_id TEXT,              -- the agent's id of the session that it started
    action      TEXT NOT NULL,          -- JSON, without the output
    crc32       INTEGER NOT NULL
) STRICT;
CREATE INDEX tool_calls_by_corr_id ON tool_calls (corr_id, session);
CREATE INDEX tool_calls_by_session ON tool_calls (session, status);
-- Not spelt with IN: then SQLite would make a temporary table for every row that is added.
CREATE INDEX tool_calls_failed ON tool_calls (status)
    WHERE status = 'failed' OR status = 'denied' OR status = 'cancelled' OR status = 'unfinished';
CREATE INDEX tool_calls_by_child ON tool_calls (child_session_id, session) WHERE child_session_id IS NOT NULL;
CREATE INDEX tool_calls_by_tool ON tool_calls (tool_name, status, duration_ms, entry);

CREATE TABLE tool_paths (
    entry  INTEGER NOT NULL REFERENCES tool_calls (entry) ON DELETE CASCADE,
    path   TEXT NOT NULL,
    change TEXT NOT NULL,               -- read, write, edit, delete, rename_from, rename_to
    crc32  INTEGER NOT NULL,
    PRIMARY KEY (entry, path, change)
) STRICT, WITHOUT ROWID;
CREATE INDEX tool_paths_by_path ON tool_paths (path);

-- Entries that still grow. Two sessions of a source may have open entries of one id.
CREATE TABLE open_entries (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    corr_id TEXT NOT NULL,
    entry   INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
    PRIMARY KEY (session, corr_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX open_entries_by_entry ON open_entries (entry);

-- NULL is unknown, which is not zero. The model '' is one that the log does not name, the moment -1 one that
-- it does not state, the message '' any that no other log tells of. Several sessions may tell of one message,
-- as one that was resumed does: see `usage`.
CREATE TABLE message_usage (
    session            INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    message_id         TEXT NOT NULL,
    model              TEXT NOT NULL,
    used_at            INTEGER NOT NULL,
    input_tokens       INTEGER,         -- cached ones included
    output_tokens      INTEGER,         -- reasoning included
    cache_read_tokens  INTEGER,
    cache_write_tokens INTEGER,
    cache_write_1h_tokens INTEGER,      -- those of them that are kept for an hour
    reasoning_tokens   INTEGER,
    web_searches       INTEGER,
    cost_usd           REAL,
    crc32              INTEGER NOT NULL,
    PRIMARY KEY (session, message_id, model, used_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_usage_by_message ON message_usage (message_id) WHERE message_id <> '';

-- The ids of a session, of its parent, of the parent of that, and so on.
CREATE VIEW lineage AS
WITH RECURSIVE lineage(session, ancestor) AS (
    SELECT id, session_id FROM sessions WHERE session_id IS NOT NULL
    UNION
    SELECT id, parent_session_id FROM sessions WHERE parent_session_id IS NOT NULL
    UNION
    SELECT lineage.session, parent.parent_session_id
    FROM lineage JOIN sessions AS parent ON parent.session_id = lineage.ancestor
    WHERE parent.parent_session_id IS NOT NULL
)
SELECT session, ancestor FROM lineage;

-- The messages of threads that an earlier session has, which the session descends from, or which has an ancestor in
-- common with it that is in no log: a fork repeats what its parent counted.
CREATE VIEW copied_usage AS
SELECT used.session, used.message_id
FROM message_usage AS used JOIN sessions AS fork ON fork.id = used.session
WHERE used.message_id LIKE 'thread:%' AND EXISTS (
    SELECT 1 FROM message_usage AS told JOIN sessions AS earlier ON earlier.id = told.session
    WHERE told.message_id = used.message_id AND told.message_id <> '' AND told.session <> used.session
    AND (coalesce(earlier.started_at, 0), told.used_at, earlier.id) < (coalesce(fork.started_at, 0), used.used_at, fork.id)
    AND EXISTS (
        SELECT 1 FROM lineage WHERE lineage.session = used.session AND (lineage.ancestor = earlier.session_id OR (
            NOT EXISTS (SELECT 1 FROM sessions AS known WHERE known.session_id = lineage.ancestor)
            AND EXISTS (SELECT 1 FROM lineage AS its WHERE its.session = earlier.id AND its.ancestor = lineage.ancestor)
        ))
    )
);

-- The tokens, each message once: in the session with most of them, of several the one that states the highest cost, or
-- else the one with the earliest use, or else the first. A message `thread:..` is one among forks. A sum of integers would fail on the extreme numbers of one log.
CREATE VIEW usage AS
SELECT session, message_id, model, used_at, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
       cache_write_1h_tokens, reasoning_tokens, web_searches, cost_usd
FROM message_usage AS used
WHERE message_id = ''
OR (message_id LIKE 'thread:%' AND NOT EXISTS (
    SELECT 1 FROM copied_usage AS copy WHERE copy.session = used.session AND copy.message_id = used.message_id
))
OR (message_id NOT LIKE 'thread:%' AND session = (
    SELECT session FROM message_usage AS told
    WHERE told.message_id = used.message_id AND told.message_id <> ''
    GROUP BY session ORDER BY sum(CAST(output_tokens AS REAL)) DESC, sum(coalesce(cost_usd, 0)) DESC, min(used_at), session LIMIT 1
));

-- A session that is a part of another one, such as that of a sub-agent, with that other one: of several logs of one
-- session the one with the call that started it, or else the first with entries, a transcript of Cursor last. NULL: it is in no log, or not read yet.
CREATE VIEW parts AS
SELECT part.id AS part, (
    SELECT whole.id FROM sessions AS whole
    LEFT JOIN tool_calls AS named ON named.corr_id = part.parent_call AND named.session = whole.id
    LEFT JOIN tool_calls AS naming ON naming.child_session_id = part.session_id AND naming.session = whole.id
    WHERE whole.session_id = part.parent_session_id AND whole.agent = part.agent AND whole.entries > 0
    AND whole.id <> part.id AND (
        whole.session_id <> coalesce(part.session_id, '') OR whole.id < part.id
        OR coalesce(whole.parent_relation, '') <> 'continuation'
    ) ORDER BY CASE WHEN coalesce(named.entry, naming.entry) IS NOT NULL THEN 0
                    WHEN coalesce(whole.parent_relation, '') = 'continuation' THEN 2 ELSE 1 END,
               (SELECT format FROM sources WHERE sources.id = whole.source) = 'cursor-transcript', whole.id LIMIT 1
) AS whole
FROM sessions AS part
WHERE part.parent_relation = 'sub_agent' OR part.parent_relation = 'continuation';

-- Each session, with the one that a person began, of which it is a part, or which it is. Sessions that state to be parts
-- of one another are trees of their own.
CREATE VIEW trees AS
WITH RECURSIVE known(part, whole) AS MATERIALIZED (SELECT part, whole FROM parts WHERE whole IS NOT NULL),
tree(session, root) AS (
    SELECT id, id FROM sessions WHERE id NOT IN (SELECT part FROM known)
    UNION ALL
    SELECT known.part, tree.root FROM tree JOIN known ON known.whole = tree.session
)
SELECT session, root FROM tree
UNION ALL
SELECT part, part FROM known WHERE part NOT IN (SELECT session FROM tree);

-- The messages of sub-agents in a window whose cost the log of their tree states as a whole (`window:` and its beginning):
-- nothing of them is estimated.
CREATE VIEW windowed_usage AS
WITH windows AS MATERIALIZED (
    SELECT session, message_id, min(CAST(substr(message_id, 8) AS INTEGER)) AS since, max(used_at) AS until FROM message_usage
    WHERE message_id > 'window:' AND message_id < 'window;' AND substr(message_id, 8) NOT GLOB '*[^0-9]*' AND cost_usd IS NOT NULL GROUP BY session, message_id
)
SELECT DISTINCT used.session, used.message_id, used.model, used.used_at
FROM windows JOIN trees AS stated ON stated.session = windows.session
JOIN trees AS part ON part.root = stated.root AND part.session <> stated.session
JOIN sessions ON sessions.id = part.session AND sessions.parent_relation = 'sub_agent'
JOIN message_usage AS used ON used.session = part.session AND used.used_at BETWEEN since AND until;

-- Logs that state more about a session in another log, such as its tokens: a session without entries, or a transcript of
-- Cursor, with the first session of the same agent and id that has entries.
CREATE VIEW companions AS
WITH logs AS (
    SELECT sessions.id, session_id, agent, entries, format = 'cursor-transcript' AS is_transcript
    FROM sessions JOIN sources ON sources.id = sessions.source
), firsts AS (
    SELECT id, session_id, agent, is_transcript,
           row_number() OVER (PARTITION BY session_id, agent ORDER BY is_transcript, id) AS place
    FROM logs WHERE entries > 0
)
SELECT logs.id AS companion, firsts.id AS session
FROM logs JOIN firsts ON firsts.session_id = logs.session_id AND firsts.agent = logs.agent AND place = 1
WHERE logs.entries = 0 OR (logs.is_transcript AND NOT firsts.is_transcript);

-- The prices of the models that were used, in US dollars a token, for the view `cost`: those that were built into the
-- program that stored the first use of the model.
CREATE TABLE prices (
    model          TEXT NOT NULL,
    until          INTEGER NOT NULL,    -- for requests before this moment; -1: for any later one
    more_than      INTEGER NOT NULL,    -- for requests of more tokens of input; -1: for any
    input          REAL NOT NULL,
    output         REAL NOT NULL,
    cache_read     REAL NOT NULL,
    cache_write    REAL NOT NULL,
    cache_write_1h REAL NOT NULL,
    crc32          INTEGER NOT NULL,
    PRIMARY KEY (model, until, more_than)
) STRICT, WITHOUT ROWID;

-- For people and dashboards: names, and times as text in UTC. A session with entries.
CREATE VIEW session AS
SELECT sessions.id, session_id, agent, coalesce(folders.project, cwd) AS project, branch, model,
       coalesce(sessions.title, (SELECT title FROM other_titles WHERE session = sessions.id ORDER BY idx DESC, title LIMIT 1)) AS title,
       outcome,
       strftime('%Y-%m-%dT%H:%M:%SZ', (coalesce(first_at, started_at)) / 1000, 'unixepoch') AS began,
       strftime('%Y-%m-%dT%H:%M:%SZ', (coalesce(last_at, ended_at)) / 1000, 'unixepoch') AS ended,
       entries,
       (SELECT count(*) FROM tool_calls WHERE session = sessions.id) AS calls,
       (SELECT count(*) FROM tool_calls WHERE session = sessions.id
        AND (status = 'failed' OR status = 'denied' OR status = 'cancelled' OR status = 'unfinished')) AS failures,
       path AS log
FROM sessions JOIN sources ON sources.id = sessions.source LEFT JOIN folders ON folder = cwd
WHERE entries > 0;

-- A tool call.
CREATE VIEW call AS
SELECT sessions.id AS session, session_id, agent, coalesce(folders.project, cwd) AS project, idx AS entry,
       strftime('%Y-%m-%dT%H:%M:%SZ', (timestamp) / 1000, 'unixepoch') AS at, tool_name AS tool, kind, entries.content AS what, status,
       exit_code, tool_calls.duration_ms
FROM tool_calls JOIN entries ON entries.id = tool_calls.entry JOIN sessions ON sessions.id = tool_calls.session
LEFT JOIN folders ON folder = cwd;

-- The tokens of a message, and its cost: as a log states it, or else estimated from the prices, unless a log of the session
-- states what the session, or a window of its tree, cost as a whole.
CREATE VIEW cost AS
WITH logs AS MATERIALIZED (
    SELECT id AS log, coalesce(companions.session, id) AS whole FROM sessions LEFT JOIN companions ON companion = id
), stated AS MATERIALIZED (
    SELECT whole FROM logs JOIN usage ON session = log
    WHERE cost_usd IS NOT NULL AND input_tokens IS NULL AND output_tokens IS NULL
)
SELECT whole AS session, session_id, agent, coalesce(folders.project, cwd) AS project, branch,
       nullif(usage.model, '') AS model,
       strftime('%Y-%m-%dT%H:%M:%SZ', (nullif(used_at, -1)) / 1000, 'unixepoch') AS at,
       strftime('%Y-%m-%d', (nullif(used_at, -1)) / 1000, 'unixepoch') AS day,
       usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens,
       usage.reasoning_tokens, usage.cost_usd AS stated_usd,
       CASE WHEN usage.cost_usd IS NULL AND whole NOT IN (SELECT whole FROM stated)
            AND (usage.session, message_id, usage.model, used_at) NOT IN (SELECT * FROM windowed_usage) THEN (
           SELECT max(max(coalesce(usage.input_tokens, 0) - coalesce(usage.cache_read_tokens, 0), 0) - coalesce(usage.cache_write_tokens, 0), 0) * prices.input
                  + coalesce(usage.cache_read_tokens, 0) * prices.cache_read
                  + (coalesce(usage.cache_write_tokens, 0) - min(coalesce(usage.cache_write_1h_tokens, 0), coalesce(usage.cache_write_tokens, 0))) * prices.cache_write
                  + min(coalesce(usage.cache_write_1h_tokens, 0), coalesce(usage.cache_write_tokens, 0)) * prices.cache_write_1h
                  + coalesce(usage.output_tokens, 0) * prices.output + coalesce(usage.web_searches, 0) * 0.01
           FROM prices
           WHERE prices.model = usage.model AND (until < 0 OR (used_at >= 0 AND used_at < until))
           AND (more_than < 0 OR (message_id <> '' AND coalesce(usage.input_tokens, 0) > more_than))
           AND coalesce(usage.input_tokens, 0) + coalesce(usage.output_tokens, 0) + coalesce(usage.cache_read_tokens, 0) + coalesce(usage.cache_write_tokens, 0)
               + coalesce(usage.web_searches, 0) > 0
           ORDER BY CASE WHEN until < 0 THEN 9223372036854775807 ELSE until END, more_than DESC LIMIT 1
       ) END AS estimated_usd
FROM logs JOIN usage ON usage.session = log JOIN sessions ON sessions.id = whole LEFT JOIN folders ON folder = cwd;

-- Each kind and subject once: how often, and where first.
CREATE TABLE warnings (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,              -- '' where there is none
    count   INTEGER NOT NULL,
    line    INTEGER NOT NULL,
    offset  INTEGER NOT NULL,
    message TEXT NOT NULL,
    corr_id TEXT,
    sample  TEXT,
    crc32   INTEGER NOT NULL,
    PRIMARY KEY (session, kind, subject)
) STRICT, WITHOUT ROWID;

-- What an agent may do without asking, whenever its log states something new about that.
CREATE TABLE authority (
    id              INTEGER PRIMARY KEY,
    session         INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    entries         INTEGER NOT NULL,   -- how many entries of the session were before it
    line            INTEGER NOT NULL,   -- where it is in the source
    offset          INTEGER NOT NULL,
    since           INTEGER,            -- the moment, as stated
    last_at         INTEGER,            -- the latest moment before it
    permission_mode TEXT,               -- in the agent's words
    approval_policy TEXT,
    sandbox         TEXT,
    allowed         TEXT,               -- reading, asking, edits, sandbox, policy, everything; NULL: unknown
    crc32           INTEGER NOT NULL
) STRICT;
CREATE INDEX authority_by_session ON authority (session);
CREATE INDEX authority_by_allowed ON authority (allowed);

-- The records that a conversation may have ended with: the last one before each prompt, and the last one. By these, other
-- logs name the session. Only of sessions whose log stated no title so far.
CREATE TABLE leaves (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    idx     INTEGER NOT NULL,           -- 0, 1, 2, .. within the session
    record  TEXT NOT NULL,
    crc32   INTEGER NOT NULL,
    PRIMARY KEY (session, idx)
) STRICT, WITHOUT ROWID;

-- Titles of the sessions with these records, as other logs state them.
CREATE TABLE record_titles (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, -- that states it
    record  TEXT NOT NULL,
    title   TEXT NOT NULL,
    crc32   INTEGER NOT NULL,
    PRIMARY KEY (session, record)
) STRICT, WITHOUT ROWID;
CREATE INDEX record_titles_by_record ON record_titles (record);

-- The titles that other logs state of a session. That of the greatest `idx` is the latest.
CREATE VIEW other_titles AS
SELECT leaves.session, idx, title FROM leaves JOIN record_titles ON record_titles.record = leaves.record;

-- What is stated about the limits of an account: the latest of each limit, in each session. What the agent passes to
-- the status line is in no log, and has no session.
CREATE TABLE limits (
    id             INTEGER PRIMARY KEY,
    session        INTEGER REFERENCES sessions (id) ON DELETE CASCADE,
    agent          TEXT,
    name           TEXT NOT NULL,       -- primary, five_hour, .. as the log names it
    used_percent   REAL NOT NULL,
    window_minutes INTEGER,
    resets_at      INTEGER,             -- the moment after which it says nothing
    at             INTEGER,             -- the moment at which it is stated
    crc32          INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX limits_by_session ON limits (session, name);
CREATE UNIQUE INDEX limits_of_no_log ON limits (agent, name) WHERE session IS NULL;
CREATE INDEX limits_by_agent ON limits (agent, name, at);

-- The texts whose words are in the search index. Of a longer text, only the words of its first mebibyte are: a million
-- different words would take hundreds of megabytes of memory while they are added. What a call was made with is stored
-- once, in its action and its metadata; `call_arguments` is a function of the program, without which entries can be read, not changed.
CREATE VIEW searched AS
SELECT entries.id,
       iif(length(CAST(content AS BLOB)) <= 1048576, content,
           CAST(substr(CAST(content AS BLOB), 1, 1048576) AS TEXT)) AS content,
       CAST(substr(CAST(call_arguments(action, content, metadata) AS BLOB), 1, 1048576) AS TEXT) AS arguments,
       iif(length(CAST(output AS BLOB)) > 1048576, CAST(substr(CAST(output AS BLOB), 1, 1048576) AS TEXT),
           coalesce(output || char(10) || reason, output, reason)) AS output
FROM entries LEFT JOIN tool_calls ON entry = entries.id;
-- The words of the entries. The text itself stays in the tables. Who adds an entry adds its words too, after its call: a
-- trigger would make SQLite write the index out for every single row. Triggers keep the two in step,
-- whoever deletes or changes rows.
CREATE VIRTUAL TABLE search USING fts5 (
    content, arguments, output,
    content = 'searched', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
-- Up to eight pieces of the index stay side by side, not four: fewer bytes are written again and again, and a
-- search takes some microseconds more.
INSERT INTO search (search, rank) VALUES ('automerge', 8);
-- Before the change of the row, which is where the words come from.
CREATE TRIGGER entries_deleted BEFORE DELETE ON entries BEGIN
    INSERT INTO search (search, rowid, content, arguments, output)
    SELECT 'delete', id, content, arguments, output FROM searched WHERE id = old.id;
END;
CREATE TRIGGER entries_change BEFORE UPDATE OF content, output, metadata ON entries
WHEN old.content IS NOT new.content OR old.output IS NOT new.output OR old.metadata IS NOT new.metadata BEGIN
    INSERT INTO search (search, rowid, content, arguments, output)
    SELECT 'delete', id, content, arguments, output FROM searched WHERE id = old.id;
END;
CREATE TRIGGER entries_changed AFTER UPDATE OF content, output, metadata ON entries
WHEN old.content IS NOT new.content OR old.output IS NOT new.output OR old.metadata IS NOT new.metadata BEGIN
    INSERT INTO search (rowid, content, arguments, output)
    SELECT id, content, arguments, output FROM searched WHERE id = new.id;
END;
-- A call is removed after its entry, except by itself.
CREATE TRIGGER tool_calls_deletion BEFORE DELETE ON tool_calls BEGIN
    INSERT INTO search (search, rowid, content, arguments, output)
    SELECT 'delete', id, content, arguments, output FROM searched WHERE id = old.entry;
END;
CREATE TRIGGER tool_calls_deleted AFTER DELETE ON tool_calls BEGIN
    INSERT INTO search (rowid, content, arguments, output)
    SELECT id, content, arguments, output FROM searched WHERE id = old.entry;
END;
CREATE TRIGGER tool_calls_change BEFORE UPDATE OF action, reason ON tool_calls
WHEN old.action IS NOT new.action OR old.reason IS NOT new.reason BEGIN
    INSERT INTO search (search, rowid, content, arguments, output)
    SELECT 'delete', id, content, arguments, output FROM searched WHERE id = old.entry;
END;
CREATE TRIGGER tool_calls_changed AFTER UPDATE OF action, reason ON tool_calls
WHEN old.action IS NOT new.action OR old.reason IS NOT new.reason BEGIN
    INSERT INTO search (rowid, content, arguments, output)
    SELECT id, content, arguments, output FROM searched WHERE id = new.entry;
END;
