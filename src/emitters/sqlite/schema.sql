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
    read_length INTEGER NOT NULL,       -- how many bytes of it are committed
    read_edges  BLOB NOT NULL,          -- digest of the beginning and the end of those
    line        INTEGER NOT NULL,       -- where the next record begins, counted from 1
    offset      INTEGER NOT NULL,       -- the same in bytes, counted from 0
    state       TEXT NOT NULL,          -- the executor's state there, JSON
    complete    INTEGER NOT NULL DEFAULT 0,
    session     INTEGER REFERENCES sessions (id) ON DELETE SET NULL -- the one that goes on
) STRICT;
CREATE INDEX sources_by_path ON sources (path);
CREATE INDEX sources_by_inode ON sources (inode, device);
CREATE INDEX sources_by_session ON sources (session);
CREATE INDEX sources_by_read ON sources (read_edges, read_length);

-- How far what is written beside the database has come, such as an audit trail: committed together
-- with the rows of the same events.
CREATE TABLE outputs (
    name  TEXT PRIMARY KEY,
    state TEXT NOT NULL                 -- JSON
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
    reasoning_effort  TEXT,
    cwd               TEXT,
    title             TEXT,
    tools             TEXT,             -- JSON array of names
    parent_session_id TEXT,
    outcome           TEXT,             -- success, failed, limit_reached, cancelled
    outcome_reason    TEXT,
    turns             INTEGER,
    duration_ms       INTEGER,          -- as stated
    started_at        INTEGER,          -- as stated
    ended_at          INTEGER,          -- as stated
    first_at          INTEGER,          -- the earliest moment seen
    last_at           INTEGER,          -- the latest moment seen
    entries           INTEGER NOT NULL DEFAULT 0, -- how many there are, or were before pruning
    pruned            INTEGER NOT NULL DEFAULT 0 -- whether entries were removed
) STRICT;
CREATE INDEX sessions_by_source ON sessions (source);
CREATE INDEX sessions_by_session_id ON sessions (session_id);
CREATE INDEX sessions_by_task ON sessions (task);

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
    output         TEXT                 -- what a tool gave back
) STRICT;
CREATE UNIQUE INDEX entries_by_place ON entries (session, idx);
CREATE INDEX entries_of_errors ON entries (id) WHERE type = 'error_message';

CREATE TABLE tool_calls (
    entry       INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
    session     INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    corr_id     TEXT NOT NULL,
    kind        TEXT NOT NULL,          -- read, edit, delete, move, search, execute, think, fetch, other
    action_name TEXT NOT NULL,          -- file_read, command_run, ...
    tool_name   TEXT NOT NULL,
    status      TEXT NOT NULL,          -- created, in_progress, pending_approval, success, failed, ...
    reason      TEXT,                   -- why it was denied
    duration_ms INTEGER,
    exit_code   INTEGER,
    output_json INTEGER NOT NULL DEFAULT 0, -- the output is structured data
    action      TEXT NOT NULL           -- JSON, without the output
) STRICT;
CREATE INDEX tool_calls_by_corr_id ON tool_calls (corr_id, session);
CREATE INDEX tool_calls_by_session ON tool_calls (session, status);
-- Not spelt with IN: then SQLite would make a temporary table for every row that is added.
CREATE INDEX tool_calls_failed ON tool_calls (status)
    WHERE status = 'failed' OR status = 'denied' OR status = 'cancelled' OR status = 'unfinished';
CREATE INDEX tool_calls_by_tool ON tool_calls (tool_name, status, duration_ms, entry);

CREATE TABLE tool_paths (
    entry  INTEGER NOT NULL REFERENCES tool_calls (entry) ON DELETE CASCADE,
    path   TEXT NOT NULL,
    change TEXT NOT NULL,               -- read, write, edit, delete, rename_from, rename_to
    PRIMARY KEY (entry, path, change)
) STRICT, WITHOUT ROWID;
CREATE INDEX tool_paths_by_path ON tool_paths (path);

-- Entries that still grow.
CREATE TABLE open_entries (
    source  INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    corr_id TEXT NOT NULL,
    entry   INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
    PRIMARY KEY (source, corr_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX open_entries_by_entry ON open_entries (entry);

-- NULL is unknown, which is not zero. The model '' is one that the log does not name.
CREATE TABLE usage (
    session            INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    model              TEXT NOT NULL,
    input_tokens       INTEGER,         -- cached ones included
    output_tokens      INTEGER,         -- reasoning included
    cache_read_tokens  INTEGER,
    cache_write_tokens INTEGER,
    reasoning_tokens   INTEGER,
    cost_usd           REAL,
    PRIMARY KEY (session, model)
) STRICT, WITHOUT ROWID;

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
    PRIMARY KEY (session, kind, subject)
) STRICT, WITHOUT ROWID;

-- The words of the entries. The text itself stays in `entries`. Who adds an entry adds its words too: a
-- trigger would make SQLite write the index out for every single row. Triggers keep the two in step,
-- whoever deletes or changes rows.
CREATE VIRTUAL TABLE search USING fts5 (
    content, output,
    content = 'entries', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER entries_deleted AFTER DELETE ON entries BEGIN
    INSERT INTO search (search, rowid, content, output)
    VALUES ('delete', old.id, old.content, old.output);
END;
CREATE TRIGGER entries_changed AFTER UPDATE OF content, output ON entries
WHEN old.content IS NOT new.content OR old.output IS NOT new.output BEGIN
    INSERT INTO search (search, rowid, content, output)
    VALUES ('delete', old.id, old.content, old.output);
    INSERT INTO search (rowid, content, output) VALUES (new.id, new.content, new.output);
END;
