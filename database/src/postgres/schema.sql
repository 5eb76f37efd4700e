-- The tables of the SQLite database, in the schema `foldline`. What differs: there are no checksums of rows (PostgreSQL
-- has checksums of pages); a session has the lines that name it; the search index is the table `words`. In texts, NUL
-- is U+FDD2, since PostgreSQL has no NUL, and U+FDD3 precedes a U+FDD2 or U+FDD3 of the text itself. Texts of logs
-- are indexed by a hash, since they may be longer than an entry of a B-tree.

COMMENT ON TABLE schema_version IS 'The version of this schema.';
COMMENT ON COLUMN schema_version.version IS 'Version of the tables; a later program migrates them';

CREATE TABLE sources (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        TEXT COLLATE "C" NOT NULL,
    path        TEXT COLLATE "C" NOT NULL,
    format      TEXT COLLATE "C" NOT NULL,
    device      BIGINT,
    inode       BIGINT,
    size        BIGINT NOT NULL,
    modified_at BIGINT,
    changed_ns  BIGINT,
    read_length BIGINT NOT NULL,
    read_edges  BYTEA NOT NULL,
    read_sha256 BYTEA,
    first_line  BYTEA,
    line        BIGINT NOT NULL,
    "offset"    BIGINT NOT NULL,
    state       TEXT NOT NULL,
    complete    BOOLEAN NOT NULL,
    host        TEXT COLLATE "C",
    user_name   TEXT COLLATE "C",
    session     BIGINT,
    forgotten   BOOLEAN NOT NULL DEFAULT FALSE,
    EXCLUDE USING hash (name WITH =)
);
COMMENT ON TABLE sources IS 'What was read, how far, and the state of the reducer there: committed together with the rows.';
COMMENT ON COLUMN sources.id IS 'Number of the source';
COMMENT ON COLUMN sources.name IS 'Name: the path it was first seen at, or the identity that a shipper gave it';
COMMENT ON COLUMN sources.path IS 'Path of the log';
COMMENT ON COLUMN sources.format IS 'Format of the log: droid, claude-stream, ..';
COMMENT ON COLUMN sources.device IS 'Device of the file, on its machine';
COMMENT ON COLUMN sources.inode IS 'Inode of the file, on its machine';
COMMENT ON COLUMN sources.size IS 'Size of the whole file when it was last read, in bytes';
COMMENT ON COLUMN sources.modified_at IS 'When the file was last modified, in milliseconds since 1970-01-01 UTC';
COMMENT ON COLUMN sources.changed_ns IS 'When the inode last changed (st_ctime), in nanoseconds since 1970-01-01 UTC';
COMMENT ON COLUMN sources.read_length IS 'How much of the file is committed, in bytes';
COMMENT ON COLUMN sources.read_edges IS 'Digest of the beginning and the end of the committed bytes';
COMMENT ON COLUMN sources.read_sha256 IS 'SHA-256 of all committed bytes';
COMMENT ON COLUMN sources.first_line IS 'SHA-256 of the first line';
COMMENT ON COLUMN sources.line IS 'Line where the next record begins, counted from 1';
COMMENT ON COLUMN sources."offset" IS 'Byte where the next record begins, counted from 0';
COMMENT ON COLUMN sources.state IS 'State of the executor there, JSON';
COMMENT ON COLUMN sources.complete IS 'Whether the log has ended';
COMMENT ON COLUMN sources.host IS 'Machine of the log';
COMMENT ON COLUMN sources.user_name IS 'User whose file it is on that machine';
COMMENT ON COLUMN sources.session IS 'The latest session';
COMMENT ON COLUMN sources.forgotten IS 'Whether all of its sessions were forgotten: it is known only so that nothing more of its log is stored';
CREATE INDEX sources_by_path ON sources USING hash (path);
CREATE INDEX sources_by_host ON sources USING hash (host);
CREATE INDEX sources_by_user_name ON sources USING hash (user_name);

CREATE TABLE outputs (
    name  TEXT COLLATE "C" NOT NULL,
    state TEXT NOT NULL
);
COMMENT ON TABLE outputs IS 'The marks stored with the rows, such as the offsets of a topic: committed together with the rows of the same events.';
COMMENT ON COLUMN outputs.name IS 'Name of the mark';
COMMENT ON COLUMN outputs.state IS 'State of the mark, JSON';
CREATE UNIQUE INDEX outputs_by_name ON outputs (md5(name));

CREATE TABLE sessions (
    id                BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source            BIGINT NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    number            BIGINT NOT NULL,
    session_id        TEXT COLLATE "C",
    task              TEXT COLLATE "C",
    agent             TEXT COLLATE "C",
    version           TEXT COLLATE "C",
    model             TEXT COLLATE "C",
    provider          TEXT COLLATE "C",
    reasoning_effort  TEXT COLLATE "C",
    cwd               TEXT COLLATE "C",
    branch            TEXT COLLATE "C",
    title             TEXT COLLATE "C",
    tools             TEXT COLLATE "C",
    parent_session_id TEXT COLLATE "C",
    parent_relation   TEXT COLLATE "C",
    parent_call       TEXT COLLATE "C",
    outcome           TEXT COLLATE "C",
    outcome_reason    TEXT COLLATE "C",
    turns             BIGINT,
    duration_ms       BIGINT,
    active_ms         BIGINT NOT NULL DEFAULT 0,
    started_at        BIGINT,
    ended_at          BIGINT,
    first_at          BIGINT,
    last_at           BIGINT,
    entries           BIGINT NOT NULL DEFAULT 0,
    pruned_to         BIGINT,
    title_line        TEXT COLLATE "C",
    prompt_line       TEXT COLLATE "C",
    any_prompt_line   TEXT COLLATE "C",
    UNIQUE (source, number)
);
COMMENT ON TABLE sessions IS 'One row per session of a source. Dashboards read the view `session`.';
COMMENT ON COLUMN sessions.id IS 'Number of the session';
COMMENT ON COLUMN sessions.source IS 'Its source';
COMMENT ON COLUMN sessions.number IS 'Its number within the source, counted from 0';
COMMENT ON COLUMN sessions.session_id IS 'The agent''s own id of the session';
COMMENT ON COLUMN sessions.task IS 'Task that the session belongs to';
COMMENT ON COLUMN sessions.agent IS 'Agent, such as claude-code';
COMMENT ON COLUMN sessions.version IS 'Version of the agent';
COMMENT ON COLUMN sessions.model IS 'The latest model';
COMMENT ON COLUMN sessions.provider IS 'Provider that serves the model';
COMMENT ON COLUMN sessions.reasoning_effort IS 'Reasoning effort, in the agent''s words';
COMMENT ON COLUMN sessions.cwd IS 'Folder that the agent worked in';
COMMENT ON COLUMN sessions.branch IS 'Latest branch of the version control there';
COMMENT ON COLUMN sessions.title IS 'Title, as its log states it';
COMMENT ON COLUMN sessions.tools IS 'Names of the tools, JSON array';
COMMENT ON COLUMN sessions.parent_session_id IS 'The agent''s own id of the parent session';
COMMENT ON COLUMN sessions.parent_relation IS 'What it is to its parent: sub_agent, fork, continuation';
COMMENT ON COLUMN sessions.parent_call IS 'Call of its parent that started it';
COMMENT ON COLUMN sessions.outcome IS 'success, failed, limit_reached, cancelled; NULL: not stated';
COMMENT ON COLUMN sessions.outcome_reason IS 'Reason of the outcome, in the words of the log';
COMMENT ON COLUMN sessions.turns IS 'Number of turns, as stated';
COMMENT ON COLUMN sessions.duration_ms IS 'Duration in milliseconds, as stated';
COMMENT ON COLUMN sessions.active_ms IS 'Time without pauses in milliseconds: the sum of the gaps between events up to five minutes';
COMMENT ON COLUMN sessions.started_at IS 'Beginning, as stated, in milliseconds since 1970-01-01 UTC';
COMMENT ON COLUMN sessions.ended_at IS 'End, as stated, in milliseconds since 1970-01-01 UTC';
COMMENT ON COLUMN sessions.first_at IS 'The earliest moment seen, in milliseconds since 1970-01-01 UTC';
COMMENT ON COLUMN sessions.last_at IS 'The latest moment seen, in milliseconds since 1970-01-01 UTC';
COMMENT ON COLUMN sessions.entries IS 'How many entries there are, or were before pruning';
COMMENT ON COLUMN sessions.pruned_to IS 'Entries before this byte of the source were removed; NULL: none';
COMMENT ON COLUMN sessions.title_line IS 'Line of the title that names the session';
COMMENT ON COLUMN sessions.prompt_line IS 'First line of a prompt that names it';
COMMENT ON COLUMN sessions.any_prompt_line IS 'First line of a prompt, whatever it says';
CREATE INDEX sessions_by_session_id ON sessions USING hash (session_id);
CREATE INDEX sessions_by_parent ON sessions USING hash (parent_session_id) WHERE parent_session_id IS NOT NULL;
CREATE INDEX sessions_by_task ON sessions USING hash (task);

CREATE TABLE forgotten (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source     TEXT COLLATE "C" NOT NULL,
    number     BIGINT,
    agent      TEXT COLLATE "C",
    session_id TEXT COLLATE "C",
    anywhere   BOOLEAN NOT NULL
);
COMMENT ON TABLE forgotten IS 'Sessions that were removed for good, so that rows of them are not written again.';
COMMENT ON COLUMN forgotten.id IS 'Number of the mark';
COMMENT ON COLUMN forgotten.source IS 'Name of its source';
COMMENT ON COLUMN forgotten.number IS 'Number within the source; NULL: any session of that id';
COMMENT ON COLUMN forgotten.agent IS 'Agent';
COMMENT ON COLUMN forgotten.session_id IS 'The agent''s own id of the session';
COMMENT ON COLUMN forgotten.anywhere IS 'Whether the id is forgotten in all logs: no other session had it';
CREATE INDEX forgotten_by_source ON forgotten USING hash (source);
CREATE INDEX forgotten_by_session_id ON forgotten USING hash (session_id);

CREATE TABLE authority (
    id              BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session         BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    entries         BIGINT NOT NULL,
    line            BIGINT NOT NULL,
    "offset"        BIGINT NOT NULL,
    since           BIGINT,
    last_at         BIGINT,
    permission_mode TEXT COLLATE "C",
    approval_policy TEXT COLLATE "C",
    sandbox         TEXT COLLATE "C",
    allowed         TEXT COLLATE "C"
);
COMMENT ON TABLE authority IS 'What an agent may do without asking, whenever its log states something new about that.';
COMMENT ON COLUMN authority.id IS 'Number of the row';
COMMENT ON COLUMN authority.session IS 'The session';
COMMENT ON COLUMN authority.entries IS 'How many entries of the session were before it';
COMMENT ON COLUMN authority.line IS 'Its line in the source, counted from 1';
COMMENT ON COLUMN authority."offset" IS 'Its byte in the source, counted from 0';
COMMENT ON COLUMN authority.since IS 'Since when, as stated, in milliseconds since 1970-01-01 UTC';
COMMENT ON COLUMN authority.last_at IS 'The latest moment before it, in milliseconds since 1970-01-01 UTC';
COMMENT ON COLUMN authority.permission_mode IS 'Permission mode, in the agent''s words';
COMMENT ON COLUMN authority.approval_policy IS 'Approval policy, in the agent''s words';
COMMENT ON COLUMN authority.sandbox IS 'Sandbox, in the agent''s words';
COMMENT ON COLUMN authority.allowed IS 'reading, asking, edits, sandbox, policy, everything; NULL: unknown';
CREATE INDEX authority_by_session ON authority (session);
CREATE INDEX authority_by_allowed ON authority (allowed);

CREATE TABLE leaves (
    session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    idx     BIGINT NOT NULL,
    record  TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session, idx)
);
COMMENT ON TABLE leaves IS 'The records that a conversation may have ended with: the last one before each prompt, and the last one. By these, other logs name the session. Only of sessions whose log stated no title so far.';
COMMENT ON COLUMN leaves.session IS 'The session';
COMMENT ON COLUMN leaves.idx IS 'Place of the record, counted from 0';
COMMENT ON COLUMN leaves.record IS 'Id of the record';

CREATE TABLE record_titles (
    session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    record  TEXT COLLATE "C" NOT NULL,
    title   TEXT COLLATE "C" NOT NULL,
    line    TEXT COLLATE "C"
);
COMMENT ON TABLE record_titles IS 'Titles of the sessions with these records, as other logs state them.';
COMMENT ON COLUMN record_titles.session IS 'The session whose log states it';
COMMENT ON COLUMN record_titles.record IS 'Id of a record of the other session';
COMMENT ON COLUMN record_titles.title IS 'Title of the other session';
COMMENT ON COLUMN record_titles.line IS 'Line of the title that names the session';
CREATE UNIQUE INDEX record_titles_by_session ON record_titles (session, md5(record));
CREATE INDEX record_titles_by_record ON record_titles USING hash (record);

CREATE VIEW other_titles AS
SELECT leaves.session, idx, title, line FROM leaves JOIN record_titles ON record_titles.record = leaves.record;
COMMENT ON VIEW other_titles IS 'The titles that other logs state of a session. That of the greatest `idx` is the latest.';
COMMENT ON COLUMN other_titles.session IS 'The session';
COMMENT ON COLUMN other_titles.idx IS 'Place of the record by which the other log names it';
COMMENT ON COLUMN other_titles.title IS 'Title';
COMMENT ON COLUMN other_titles.line IS 'Line of the title that names the session';

CREATE TABLE limits (
    id             BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session        BIGINT REFERENCES sessions (id) ON DELETE CASCADE,
    agent          TEXT COLLATE "C",
    name           TEXT COLLATE "C" NOT NULL,
    used_percent   DOUBLE PRECISION NOT NULL,
    window_minutes BIGINT,
    resets_at      BIGINT,
    at             BIGINT
);
COMMENT ON TABLE limits IS 'What is stated about the limits of an account: the latest of each limit, in each session.';
COMMENT ON COLUMN limits.id IS 'Number of the row';
COMMENT ON COLUMN limits.session IS 'The session';
COMMENT ON COLUMN limits.agent IS 'Agent';
COMMENT ON COLUMN limits.name IS 'Name of the limit, such as primary or five_hour, as the log states it';
COMMENT ON COLUMN limits.used_percent IS 'Used part, in percent';
COMMENT ON COLUMN limits.window_minutes IS 'Length of the window, in minutes';
COMMENT ON COLUMN limits.resets_at IS 'When the limit is reset, in milliseconds since 1970-01-01 UTC';
COMMENT ON COLUMN limits.at IS 'When it was stated, in milliseconds since 1970-01-01 UTC';
CREATE UNIQUE INDEX limits_by_session ON limits (session, md5(name));

CREATE TABLE folders (
    folder  TEXT COLLATE "C" PRIMARY KEY,
    project TEXT COLLATE "C" NOT NULL,
    tree    TEXT COLLATE "C" NOT NULL
);
COMMENT ON TABLE folders IS 'The project of a folder that an agent worked in: the root of its repository, as it was when the folder was there.';
COMMENT ON COLUMN folders.folder IS 'Folder, as logs state it';
COMMENT ON COLUMN folders.project IS 'Root of its repository';
COMMENT ON COLUMN folders.tree IS 'Work tree that it is in; else as the project';

CREATE TABLE entries (
    id             BIGINT PRIMARY KEY,
    session        BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    idx            BIGINT NOT NULL,
    type           TEXT COLLATE "C" NOT NULL,
    code           TEXT COLLATE "C",
    timestamp      BIGINT,
    line           BIGINT NOT NULL,
    "offset"       BIGINT NOT NULL,
    parent_corr_id TEXT COLLATE "C",
    metadata       TEXT,
    content        TEXT NOT NULL,
    output         TEXT
);
COMMENT ON TABLE entries IS 'Messages, tool calls and other entries of sessions.';
COMMENT ON COLUMN entries.id IS 'Number of the entry';
COMMENT ON COLUMN entries.session IS 'Its session';
COMMENT ON COLUMN entries.idx IS 'Its place in the session, counted from 0';
COMMENT ON COLUMN entries.type IS 'user_message, assistant_message, tool_use, ..';
COMMENT ON COLUMN entries.code IS 'Kind of warning, of a diagnostic';
COMMENT ON COLUMN entries.timestamp IS 'Its moment, in milliseconds since 1970-01-01 UTC';
COMMENT ON COLUMN entries.line IS 'Its line in the source, counted from 1';
COMMENT ON COLUMN entries."offset" IS 'Its byte in the source, counted from 0';
COMMENT ON COLUMN entries.parent_corr_id IS 'Call that started the sub-agent whose entry it is';
COMMENT ON COLUMN entries.metadata IS 'Further facts, JSON without what the columns hold';
COMMENT ON COLUMN entries.content IS 'What was said; of a tool call, a short title';
COMMENT ON COLUMN entries.output IS 'What a tool gave back';
CREATE SEQUENCE entry_ids OWNED BY entries.id;
CREATE UNIQUE INDEX entries_by_place ON entries (session, idx);
CREATE INDEX entries_of_errors ON entries (id) WHERE type = 'error_message';
CREATE INDEX entries_by_timestamp ON entries (timestamp);

CREATE TABLE tool_calls (
    entry       BIGINT PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
    session     BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    corr_id     TEXT COLLATE "C" NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL,
    action_name TEXT COLLATE "C" NOT NULL,
    tool_name   TEXT COLLATE "C" NOT NULL,
    status      TEXT COLLATE "C" NOT NULL,
    reason      TEXT COLLATE "C",
    duration_ms BIGINT,
    exit_code   BIGINT,
    output_json BOOLEAN NOT NULL,
    child_session_id TEXT COLLATE "C",
    action      TEXT NOT NULL
);
COMMENT ON TABLE tool_calls IS 'What an entry that is a tool call states. Dashboards read the view `call`.';
COMMENT ON COLUMN tool_calls.entry IS 'Its entry';
COMMENT ON COLUMN tool_calls.session IS 'Its session';
COMMENT ON COLUMN tool_calls.corr_id IS 'The agent''s own id of the call';
COMMENT ON COLUMN tool_calls.kind IS 'read, edit, delete, move, search, execute, think, fetch, other';
COMMENT ON COLUMN tool_calls.action_name IS 'file_read, command_run, ..';
COMMENT ON COLUMN tool_calls.tool_name IS 'Name of the tool, in the agent''s words';
COMMENT ON COLUMN tool_calls.status IS 'created, in_progress, pending_approval, success, failed, denied, cancelled, unfinished';
COMMENT ON COLUMN tool_calls.reason IS 'Why it was denied';
COMMENT ON COLUMN tool_calls.duration_ms IS 'Duration in milliseconds';
COMMENT ON COLUMN tool_calls.exit_code IS 'Exit code of a command';
COMMENT ON COLUMN tool_calls.output_json IS 'Whether the output is structured data';
COMMENT ON COLUMN tool_calls.child_session_id IS 'The agent''s own id of the session that it started';
COMMENT ON COLUMN tool_calls.action IS 'The action, JSON without the output';
CREATE INDEX tool_calls_by_corr_id ON tool_calls (session, md5(corr_id));
CREATE INDEX tool_calls_by_child ON tool_calls (session) WHERE child_session_id IS NOT NULL;
CREATE INDEX tool_calls_by_session ON tool_calls (session, status);
CREATE INDEX tool_calls_failed ON tool_calls (status)
    WHERE status = 'failed' OR status = 'denied' OR status = 'cancelled' OR status = 'unfinished';

CREATE TABLE tool_paths (
    entry  BIGINT NOT NULL REFERENCES tool_calls (entry) ON DELETE CASCADE,
    path   TEXT COLLATE "C" NOT NULL,
    change TEXT COLLATE "C" NOT NULL
);
COMMENT ON TABLE tool_paths IS 'The files that a tool call named. Dashboards read the view `file`.';
COMMENT ON COLUMN tool_paths.entry IS 'Entry of the call';
COMMENT ON COLUMN tool_paths.path IS 'Path, as the log states it';
COMMENT ON COLUMN tool_paths.change IS 'read, write, edit, delete, rename_from, rename_to';
CREATE INDEX tool_paths_by_entry ON tool_paths (entry);

CREATE TABLE open_entries (
    session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    corr_id TEXT COLLATE "C" NOT NULL,
    entry   BIGINT NOT NULL REFERENCES entries (id) ON DELETE CASCADE
);
COMMENT ON TABLE open_entries IS 'Entries that still grow.';
COMMENT ON COLUMN open_entries.session IS 'The session';
COMMENT ON COLUMN open_entries.corr_id IS 'The agent''s own id of the entry';
COMMENT ON COLUMN open_entries.entry IS 'The entry';
CREATE UNIQUE INDEX open_entries_by_corr_id ON open_entries (session, md5(corr_id));
CREATE INDEX open_entries_by_entry ON open_entries (entry);

CREATE TABLE message_usage (
    session               BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    message_id            TEXT COLLATE "C" NOT NULL,
    model                 TEXT COLLATE "C" NOT NULL,
    used_at               BIGINT NOT NULL,
    input_tokens          BIGINT,
    output_tokens         BIGINT,
    cache_read_tokens     BIGINT,
    cache_write_tokens    BIGINT,
    cache_write_1h_tokens BIGINT,
    reasoning_tokens      BIGINT,
    web_searches          BIGINT,
    cost_usd              DOUBLE PRECISION
);
COMMENT ON TABLE message_usage IS 'The tokens of each message in each log. Several sessions may have one message: the view `usage` counts it once, and dashboards read the view `cost`.';
COMMENT ON COLUMN message_usage.session IS 'The session';
COMMENT ON COLUMN message_usage.message_id IS 'The agent''s own id of the message; empty: one that no other log contains';
COMMENT ON COLUMN message_usage.model IS 'Model; empty: not stated';
COMMENT ON COLUMN message_usage.used_at IS 'When it was used, in milliseconds since 1970-01-01 UTC; -1: not stated';
COMMENT ON COLUMN message_usage.input_tokens IS 'Tokens of input, cached ones included; NULL: unknown, which is not zero';
COMMENT ON COLUMN message_usage.output_tokens IS 'Tokens of output, reasoning included';
COMMENT ON COLUMN message_usage.cache_read_tokens IS 'Tokens of input that were read from the cache';
COMMENT ON COLUMN message_usage.cache_write_tokens IS 'Tokens of input that were written to the cache';
COMMENT ON COLUMN message_usage.cache_write_1h_tokens IS 'Tokens among those that are kept for an hour';
COMMENT ON COLUMN message_usage.reasoning_tokens IS 'Tokens of output that are reasoning';
COMMENT ON COLUMN message_usage.web_searches IS 'Number of searches by the provider';
COMMENT ON COLUMN message_usage.cost_usd IS 'Cost in US dollars, as stated';
CREATE UNIQUE INDEX message_usage_by_place ON message_usage (session, md5(message_id), md5(model), used_at);
CREATE INDEX message_usage_by_message ON message_usage USING hash (message_id) WHERE message_id <> '';
CREATE INDEX message_usage_by_time ON message_usage (used_at);
CREATE INDEX message_usage_of_wholes ON message_usage (session)
    WHERE cost_usd IS NOT NULL AND input_tokens IS NULL AND output_tokens IS NULL;
-- Of the views `copied_usage` and `windowed_usage`: most databases have few of these messages.
CREATE INDEX message_usage_of_threads ON message_usage (session) WHERE message_id LIKE 'thread:%';
CREATE INDEX message_usage_of_windows ON message_usage (session) WHERE message_id >= 'window:' AND message_id < 'window;';

CREATE TABLE models (model TEXT COLLATE "C" NOT NULL);
COMMENT ON TABLE models IS 'The models of the usage, each once.';
COMMENT ON COLUMN models.model IS 'Model; empty: not stated';
CREATE UNIQUE INDEX models_by_model ON models (md5(model));

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
COMMENT ON VIEW lineage IS 'The ids of a session, of its parent, of the parent of that, and so on.';
COMMENT ON COLUMN lineage.session IS 'The session';
COMMENT ON COLUMN lineage.ancestor IS 'The agent''s own id of the session, or of an ancestor';

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
COMMENT ON VIEW copied_usage IS 'The messages of threads that an earlier session has, which the session descends from, or which has an ancestor in common with it that is in no log: a fork repeats what its parent counted.';
COMMENT ON COLUMN copied_usage.session IS 'The session';
COMMENT ON COLUMN copied_usage.message_id IS 'The agent''s own id of the message';

CREATE VIEW uncounted_usage AS
WITH repeated AS MATERIALIZED (
    SELECT message_id FROM message_usage WHERE message_id <> '' GROUP BY message_id HAVING min(session) <> max(session)
), told AS (
    SELECT session, message_id, row_number() OVER (
        PARTITION BY message_id ORDER BY sum(CAST(output_tokens AS DOUBLE PRECISION)) DESC NULLS LAST,
        sum(coalesce(cost_usd, 0)) DESC, min(used_at), session
    ) AS place
    FROM message_usage JOIN repeated USING (message_id)
    WHERE message_id NOT LIKE 'thread:%' GROUP BY session, message_id
)
SELECT session, message_id FROM told WHERE place > 1
UNION ALL
SELECT session, message_id FROM copied_usage;
COMMENT ON VIEW uncounted_usage IS 'The messages of sessions that count in another session: the one with most of their tokens, of several the one that states the highest cost, or else the one with the earliest use, or else the first. A message `thread:..` is one among forks.';
COMMENT ON COLUMN uncounted_usage.session IS 'The session';
COMMENT ON COLUMN uncounted_usage.message_id IS 'The agent''s own id of the message';

CREATE VIEW usage AS
SELECT * FROM message_usage AS used
WHERE NOT EXISTS (
    SELECT 1 FROM uncounted_usage AS other WHERE other.session = used.session AND other.message_id = used.message_id
);
COMMENT ON VIEW usage IS 'The tokens, each message once. Dashboards read the view `cost`.';
COMMENT ON COLUMN usage.session IS 'The session in which the message counts';
COMMENT ON COLUMN usage.message_id IS 'The agent''s own id of the message; empty: one that no other log contains';
COMMENT ON COLUMN usage.model IS 'Model; empty: not stated';
COMMENT ON COLUMN usage.used_at IS 'When it was used, in milliseconds since 1970-01-01 UTC; -1: not stated';
COMMENT ON COLUMN usage.input_tokens IS 'Tokens of input, cached ones included; NULL: unknown, which is not zero';
COMMENT ON COLUMN usage.output_tokens IS 'Tokens of output, reasoning included';
COMMENT ON COLUMN usage.cache_read_tokens IS 'Tokens of input that were read from the cache';
COMMENT ON COLUMN usage.cache_write_tokens IS 'Tokens of input that were written to the cache';
COMMENT ON COLUMN usage.cache_write_1h_tokens IS 'Tokens among those that are kept for an hour';
COMMENT ON COLUMN usage.reasoning_tokens IS 'Tokens of output that are reasoning';
COMMENT ON COLUMN usage.web_searches IS 'Number of searches by the provider';
COMMENT ON COLUMN usage.cost_usd IS 'Cost in US dollars, as stated';

CREATE VIEW parts AS
SELECT part.id AS part, (
    SELECT whole.id FROM sessions AS whole
    LEFT JOIN tool_calls AS named ON md5(named.corr_id) = md5(part.parent_call) AND named.session = whole.id
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
COMMENT ON VIEW parts IS 'A session that is a part of another one, such as that of a sub-agent, with that other one: of several logs of one session the one with the call that started it, or else the first with entries, a transcript of Cursor last.';
COMMENT ON COLUMN parts.part IS 'The session that is a part';
COMMENT ON COLUMN parts.whole IS 'The session that it is a part of; NULL: it is in no log, or not read yet';

-- Not `NOT IN`, of which the server would compare all pairs of a large database.
CREATE VIEW trees AS
WITH RECURSIVE known(part, whole) AS MATERIALIZED (SELECT part, whole FROM parts WHERE whole IS NOT NULL),
tree(session, root) AS (
    SELECT id, id FROM sessions WHERE NOT EXISTS (SELECT 1 FROM known WHERE known.part = sessions.id)
    UNION ALL
    SELECT known.part, tree.root FROM tree JOIN known ON known.whole = tree.session
)
SELECT session, root FROM tree
UNION ALL
SELECT part, part FROM known WHERE NOT EXISTS (SELECT 1 FROM tree WHERE tree.session = known.part);
COMMENT ON VIEW trees IS 'Each session, with the one that a person began, of which it is a part, or which it is. Sessions that state to be parts of one another are trees of their own.';
COMMENT ON COLUMN trees.session IS 'The session';
COMMENT ON COLUMN trees.root IS 'The session that a person began';

CREATE VIEW windowed_usage AS
WITH windows AS MATERIALIZED (
    SELECT session, message_id, min(CAST(substr(message_id, 8) AS BIGINT)) AS since, max(used_at) AS until FROM message_usage
    WHERE message_id >= 'window:' AND message_id < 'window;' AND message_id ~ '^window:[0-9]{1,18}$' AND cost_usd IS NOT NULL GROUP BY session, message_id
)
SELECT DISTINCT used.session, used.message_id, used.model, used.used_at
FROM windows JOIN trees AS stated ON stated.session = windows.session
JOIN trees AS part ON part.root = stated.root AND part.session <> stated.session
JOIN sessions ON sessions.id = part.session AND sessions.parent_relation = 'sub_agent'
JOIN message_usage AS used ON used.session = part.session AND used.used_at BETWEEN since AND until;
COMMENT ON VIEW windowed_usage IS 'The messages of sub-agents in a window whose cost the log of their tree states as a whole (`window:` and its beginning): nothing of them is estimated.';
COMMENT ON COLUMN windowed_usage.session IS 'The session';
COMMENT ON COLUMN windowed_usage.message_id IS 'The agent''s own id of the message';
COMMENT ON COLUMN windowed_usage.model IS 'Model; empty: not stated';
COMMENT ON COLUMN windowed_usage.used_at IS 'When it was used, in milliseconds since 1970-01-01 UTC; -1: not stated';

CREATE TABLE prices (
    model          TEXT COLLATE "C" NOT NULL,
    until          BIGINT NOT NULL,
    more_than      BIGINT NOT NULL,
    input          DOUBLE PRECISION NOT NULL,
    output         DOUBLE PRECISION NOT NULL,
    cache_read     DOUBLE PRECISION NOT NULL,
    cache_write    DOUBLE PRECISION NOT NULL,
    cache_write_1h DOUBLE PRECISION NOT NULL
);
COMMENT ON TABLE prices IS 'The prices of the models that were used, for the view `cost`: those that were built into the program that stored the first use of the model.';
COMMENT ON COLUMN prices.model IS 'Model';
COMMENT ON COLUMN prices.until IS 'For requests before this moment, in milliseconds since 1970-01-01 UTC; -1: for any later one';
COMMENT ON COLUMN prices.more_than IS 'For requests with more tokens of input; -1: for any';
COMMENT ON COLUMN prices.input IS 'US dollars per token of input';
COMMENT ON COLUMN prices.output IS 'US dollars per token of output';
COMMENT ON COLUMN prices.cache_read IS 'US dollars per token that is read from the cache';
COMMENT ON COLUMN prices.cache_write IS 'US dollars per token that is written to the cache';
COMMENT ON COLUMN prices.cache_write_1h IS 'US dollars per token that is written to the cache for an hour';
CREATE UNIQUE INDEX prices_by_model ON prices (md5(model), until, more_than);

CREATE FUNCTION moment(ms BIGINT) RETURNS TIMESTAMPTZ LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN ms BETWEEN -210866803200000 AND 9224318015999999 THEN to_timestamp(ms / 1000.0) END;
COMMENT ON FUNCTION moment IS 'A moment that is stored in milliseconds since 1970-01-01 UTC; NULL: unknown, or beyond the range of the type';

CREATE VIEW companions AS
WITH logs AS (
    SELECT sessions.id, session_id, agent, entries, format = 'cursor-transcript' AS is_transcript
    FROM sessions JOIN sources ON sources.id = sessions.source
), firsts AS (
    SELECT DISTINCT ON (session_id, agent) id, session_id, agent, is_transcript
    FROM logs WHERE entries > 0 ORDER BY session_id, agent, is_transcript, id
)
SELECT logs.id AS companion, firsts.id AS session
FROM logs JOIN firsts ON firsts.session_id = logs.session_id AND firsts.agent = logs.agent
WHERE logs.entries = 0 OR (logs.is_transcript AND NOT firsts.is_transcript);
COMMENT ON VIEW companions IS 'Logs that state more about a session in another log, such as its tokens: a session without entries, or a transcript of Cursor, with the first session of the same agent and id that has entries.';
COMMENT ON COLUMN companions.companion IS 'The session that states more';
COMMENT ON COLUMN companions.session IS 'The session that it belongs to';

-- The joined relations have at most one row of a session, so the server leaves out those whose columns are not read.
CREATE VIEW session_facts AS
SELECT sessions.id, trees.root, sessions.session_id, sessions.agent, sessions.task,
       coalesce(folders.project, sessions.cwd, stated.cwd) AS project, coalesce(sessions.branch, stated.branch) AS branch,
       coalesce(sessions.cwd, stated.cwd) AS folder, coalesce(folders.tree, folders.project, sessions.cwd, stated.cwd) AS tree,
       coalesce(sessions.model, stated.model) AS model,
       coalesce(sessions.title_line, latest.line, sessions.prompt_line, sessions.any_prompt_line) AS title,
       sources.host, sources.user_name, coalesce(sessions.outcome, stated.outcome) AS outcome,
       moment(coalesce(first_at, started_at)) AS began, moment(coalesce(last_at, ended_at)) AS ended,
       coalesce(CASE WHEN first_at < last_at THEN active_ms END, sessions.duration_ms, stated.duration_ms) AS active_ms,
       sessions.entries, sources.path AS log
FROM sessions JOIN sources ON sources.id = sessions.source
LEFT JOIN (
    SELECT companions.session, (array_agg(cwd ORDER BY id) FILTER (WHERE cwd IS NOT NULL))[1] AS cwd,
           (array_agg(branch ORDER BY id) FILTER (WHERE branch IS NOT NULL))[1] AS branch,
           (array_agg(model ORDER BY id) FILTER (WHERE model IS NOT NULL))[1] AS model,
           (array_agg(outcome ORDER BY id) FILTER (WHERE outcome IS NOT NULL))[1] AS outcome,
           (array_agg(duration_ms ORDER BY id) FILTER (WHERE duration_ms IS NOT NULL))[1] AS duration_ms
    FROM companions JOIN sessions ON sessions.id = companion GROUP BY companions.session
) AS stated ON stated.session = sessions.id
LEFT JOIN folders ON folders.folder = coalesce(sessions.cwd, stated.cwd)
LEFT JOIN (
    SELECT DISTINCT ON (session) session, line FROM other_titles ORDER BY session, idx DESC, title
) AS latest ON latest.session = sessions.id
LEFT JOIN (SELECT session, min(root) AS root FROM trees GROUP BY session) AS trees ON trees.session = sessions.id;
COMMENT ON VIEW session_facts IS 'What is known of each session, for the other views; companions included.';
COMMENT ON COLUMN session_facts.id IS 'Number of the session';
COMMENT ON COLUMN session_facts.root IS 'Number of the session that a person began, of which it is a part, or which it is';
COMMENT ON COLUMN session_facts.session_id IS 'The agent''s own id of the session';
COMMENT ON COLUMN session_facts.agent IS 'Agent, such as claude-code';
COMMENT ON COLUMN session_facts.task IS 'Task';
COMMENT ON COLUMN session_facts.project IS 'Root of the repository that the session worked in, else its folder';
COMMENT ON COLUMN session_facts.branch IS 'Branch of the version control';
COMMENT ON COLUMN session_facts.folder IS 'Folder that the agent worked in';
COMMENT ON COLUMN session_facts.tree IS 'Work tree of the repository that the folder is in, else as the project';
COMMENT ON COLUMN session_facts.model IS 'The latest model';
COMMENT ON COLUMN session_facts.title IS 'Title, else the first line of a prompt';
COMMENT ON COLUMN session_facts.host IS 'Machine of the log';
COMMENT ON COLUMN session_facts.user_name IS 'User whose log it is on that machine';
COMMENT ON COLUMN session_facts.outcome IS 'success, failed, limit_reached, cancelled; NULL: not stated';
COMMENT ON COLUMN session_facts.began IS 'Earliest moment; NULL: not stated';
COMMENT ON COLUMN session_facts.ended IS 'Latest moment; NULL: not stated';
COMMENT ON COLUMN session_facts.active_ms IS 'Time without pauses in milliseconds, else the stated duration';
COMMENT ON COLUMN session_facts.entries IS 'How many entries there are, or were before pruning';
COMMENT ON COLUMN session_facts.log IS 'Path of the log';

CREATE VIEW call AS
SELECT entries.id, facts.id AS session, facts.root, session_id, agent, task, project, branch, title, host, user_name, idx AS entry,
       moment(timestamp) AS at, tool_name AS tool, kind, entries.content AS what, status,
       status IN ('created', 'in_progress', 'pending_approval') AS is_open,
       (status = 'failed' OR status = 'denied' OR status = 'cancelled' OR status = 'unfinished') AS is_failure,
       exit_code, tool_calls.duration_ms
FROM tool_calls JOIN entries ON entries.id = tool_calls.entry JOIN session_facts AS facts ON facts.id = tool_calls.session
WHERE facts.id NOT IN (SELECT companion FROM companions);
COMMENT ON VIEW call IS 'A tool call. For dashboards.';
COMMENT ON COLUMN call.id IS 'Number of the entry of the call';
COMMENT ON COLUMN call.session IS 'Number of the session';
COMMENT ON COLUMN call.root IS 'Number of the session that a person began, of which it is a part, or which it is';
COMMENT ON COLUMN call.session_id IS 'The agent''s own id of the session';
COMMENT ON COLUMN call.agent IS 'Agent, such as claude-code';
COMMENT ON COLUMN call.task IS 'Task';
COMMENT ON COLUMN call.project IS 'Root of the repository that the session worked in, else its folder';
COMMENT ON COLUMN call.branch IS 'Branch of the version control';
COMMENT ON COLUMN call.title IS 'Title, else the first line of a prompt';
COMMENT ON COLUMN call.host IS 'Machine of the log';
COMMENT ON COLUMN call.user_name IS 'User whose log it is on that machine';
COMMENT ON COLUMN call.entry IS 'Place of its entry in the session, counted from 0';
COMMENT ON COLUMN call.at IS 'When it was made; NULL: not stated';
COMMENT ON COLUMN call.tool IS 'Name of the tool, in the agent''s words';
COMMENT ON COLUMN call.kind IS 'read, edit, delete, move, search, execute, think, fetch, other';
COMMENT ON COLUMN call.what IS 'Short title of the call';
COMMENT ON COLUMN call.status IS 'created, in_progress, pending_approval, success, failed, denied, cancelled, unfinished';
COMMENT ON COLUMN call.is_open IS 'Whether it has not ended';
COMMENT ON COLUMN call.is_failure IS 'Whether it failed, was denied or cancelled, or did not finish';
COMMENT ON COLUMN call.exit_code IS 'Exit code of a command';
COMMENT ON COLUMN call.duration_ms IS 'Duration in milliseconds; NULL: not stated';

-- The rules are those of the program's answer `files`.
CREATE FUNCTION is_below(path TEXT, root TEXT) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN substr(path || '/', 1, length(root) + 1) = root || '/';
CREATE VIEW file AS
WITH roots AS MATERIALIZED (
    SELECT id, project, rtrim(replace(folder, '\', '/'), '/') AS folder, rtrim(replace(project, '\', '/'), '/') AS root,
           rtrim(replace(tree, '\', '/'), '/') AS tree
    FROM session_facts
), wholes AS (
    SELECT entry, session, change, project, root, tree,
           CASE WHEN substr(stated, 1, 1) = '/' OR substr(stated, 2, 2) = ':/' OR folder IS NULL
                THEN stated ELSE folder || '/' || stated END AS whole
    FROM (
        SELECT tool_paths.entry, session, change,
               replace(CASE WHEN substr(path, 1, 2) = './' THEN substr(path, 3) ELSE path END, '\', '/') AS stated
        FROM tool_paths JOIN tool_calls ON tool_calls.entry = tool_paths.entry
    ) AS paths JOIN roots ON roots.id = paths.session
)
SELECT call.session, call.root, session_id, agent, task,
       CASE WHEN is_below(whole, wholes.tree) OR is_below(whole, wholes.root) THEN wholes.project END AS project,
       branch, title, host, user_name, call.entry, at, tool, change, is_failure,
       CASE WHEN is_below(whole, wholes.tree) THEN coalesce(nullif(substr(whole, length(wholes.tree) + 2), ''), '.')
            WHEN is_below(whole, wholes.root) THEN coalesce(nullif(substr(whole, length(wholes.root) + 2), ''), '.')
            ELSE whole END AS path
FROM wholes JOIN call ON call.id = wholes.entry;
COMMENT ON VIEW file IS 'A file that a tool call named: one row for each call and kind of access. A relative path is equal in all work trees of a project, and however a log states it. For dashboards.';
COMMENT ON COLUMN file.session IS 'Number of the session';
COMMENT ON COLUMN file.root IS 'Number of the session that a person began, of which it is a part, or which it is';
COMMENT ON COLUMN file.session_id IS 'The agent''s own id of the session';
COMMENT ON COLUMN file.agent IS 'Agent, such as claude-code';
COMMENT ON COLUMN file.task IS 'Task';
COMMENT ON COLUMN file.project IS 'Project that the file is in; NULL: none';
COMMENT ON COLUMN file.branch IS 'Branch of the version control';
COMMENT ON COLUMN file.title IS 'Title, else the first line of a prompt';
COMMENT ON COLUMN file.host IS 'Machine of the log';
COMMENT ON COLUMN file.user_name IS 'User whose log it is on that machine';
COMMENT ON COLUMN file.entry IS 'Place of the entry of the call in the session, counted from 0';
COMMENT ON COLUMN file.at IS 'When it was touched; NULL: not stated';
COMMENT ON COLUMN file.tool IS 'Name of the tool, in the agent''s words';
COMMENT ON COLUMN file.change IS 'read, write, edit, delete, rename_from, rename_to';
COMMENT ON COLUMN file.is_failure IS 'Whether the call failed, was denied or cancelled, or did not finish';
COMMENT ON COLUMN file.path IS 'Path with / as the separator: relative to the project; without one absolute, or else as the log states it';

-- A model has at most one of the rates for a request at a moment with this many tokens of input.
CREATE VIEW cost AS
WITH owners AS MATERIALIZED (
    SELECT own.id, own.root, own.session_id, own.agent, head.task, head.project, head.branch, head.title, own.host, own.user_name
    FROM session_facts AS own JOIN session_facts AS head ON head.id = own.root
), uncounted AS MATERIALIZED (SELECT session, message_id FROM uncounted_usage),
counted AS NOT MATERIALIZED (
    SELECT coalesce(companions.session, used.session) AS whole, used.*
    FROM message_usage AS used LEFT JOIN companions ON companions.companion = used.session
    WHERE NOT EXISTS (
        SELECT 1 FROM uncounted WHERE uncounted.session = used.session AND uncounted.message_id = used.message_id
    )
), stated AS MATERIALIZED (
    SELECT DISTINCT whole FROM counted WHERE cost_usd IS NOT NULL AND input_tokens IS NULL AND output_tokens IS NULL
), rates AS MATERIALIZED (
    SELECT prices.*,
           (SELECT max(until) FROM prices AS earlier WHERE earlier.model = prices.model AND earlier.until >= 0
            AND (prices.until < 0 OR earlier.until < prices.until)) AS since,
           (SELECT min(more_than) FROM prices AS dearer WHERE dearer.model = prices.model AND dearer.until = prices.until
            AND dearer.more_than > prices.more_than) AS at_most
    FROM prices
)
SELECT owners.id AS session, root, session_id, agent, task, project, branch, title, host, user_name,
       nullif(counted.model, '') AS model, moment(nullif(counted.used_at, -1)) AS at,
       CAST(moment(nullif(counted.used_at, -1)) AT TIME ZONE 'UTC' AS DATE) AS day,
       counted.input_tokens, counted.output_tokens, counted.cache_read_tokens, counted.cache_write_tokens,
       counted.reasoning_tokens, counted.web_searches, counted.cost_usd AS stated_usd, estimated.usd AS estimated_usd,
       coalesce(counted.cost_usd, estimated.usd) AS cost_usd,
       CASE WHEN counted.cost_usd IS NOT NULL THEN 'logged' WHEN estimated.usd IS NOT NULL THEN 'estimated' END AS cost_basis
FROM counted JOIN owners ON owners.id = counted.whole
LEFT JOIN stated ON stated.whole = counted.whole
LEFT JOIN windowed_usage AS windowed ON windowed.session = counted.session AND windowed.message_id = counted.message_id
    AND windowed.model = counted.model AND windowed.used_at = counted.used_at
LEFT JOIN rates ON rates.model = counted.model
    AND coalesce(nullif(counted.used_at, -1), 9223372036854775806) >= coalesce(rates.since, -9223372036854775808)
    AND (rates.until < 0 OR coalesce(nullif(counted.used_at, -1), 9223372036854775806) < rates.until)
    AND (rates.more_than < 0 OR (counted.message_id <> '' AND counted.input_tokens > rates.more_than))
    AND (rates.at_most IS NULL OR counted.message_id = '' OR coalesce(counted.input_tokens, 0) <= rates.at_most)
CROSS JOIN LATERAL (
    SELECT CASE WHEN counted.cost_usd IS NULL AND stated.whole IS NULL AND windowed.session IS NULL
                AND (counted.input_tokens <> 0 OR counted.output_tokens <> 0 OR counted.cache_read_tokens <> 0
                     OR counted.cache_write_tokens <> 0 OR counted.cache_write_1h_tokens <> 0 OR counted.web_searches <> 0) THEN
        greatest(greatest(coalesce(counted.input_tokens, 0) - coalesce(counted.cache_read_tokens, 0), 0)
                 - coalesce(counted.cache_write_tokens, 0), 0) * rates.input
        + coalesce(counted.cache_read_tokens, 0) * rates.cache_read
        + (coalesce(counted.cache_write_tokens, 0)
           - least(coalesce(counted.cache_write_1h_tokens, 0), coalesce(counted.cache_write_tokens, 0))) * rates.cache_write
        + least(coalesce(counted.cache_write_1h_tokens, 0), coalesce(counted.cache_write_tokens, 0)) * rates.cache_write_1h
        + coalesce(counted.output_tokens, 0) * rates.output + coalesce(counted.web_searches, 0) * 0.01
    END AS usd
) AS estimated;
COMMENT ON VIEW cost IS 'The tokens of a message, each message once, and its cost: as a log states it, or else estimated from the prices, unless the log states what the session, or a window of its tree, cost as a whole. For dashboards.';
COMMENT ON COLUMN cost.session IS 'Number of the session in which the message counts';
COMMENT ON COLUMN cost.root IS 'Number of the session that a person began, of which it is a part, or which it is';
COMMENT ON COLUMN cost.session_id IS 'The agent''s own id of the session';
COMMENT ON COLUMN cost.agent IS 'Agent, such as claude-code';
COMMENT ON COLUMN cost.task IS 'Task, of the session that a person began';
COMMENT ON COLUMN cost.project IS 'Root of the repository that the session worked in, else its folder, of the session that a person began';
COMMENT ON COLUMN cost.branch IS 'Branch of the version control, of the session that a person began';
COMMENT ON COLUMN cost.title IS 'Title, else the first line of a prompt, of the session that a person began';
COMMENT ON COLUMN cost.host IS 'Machine of the log';
COMMENT ON COLUMN cost.user_name IS 'User whose log it is on that machine';
COMMENT ON COLUMN cost.model IS 'Model; NULL: not stated';
COMMENT ON COLUMN cost.at IS 'When the tokens were used; NULL: not stated';
COMMENT ON COLUMN cost.day IS 'Day of that in UTC';
COMMENT ON COLUMN cost.input_tokens IS 'Tokens of input, cached ones included; NULL: unknown, which is not zero';
COMMENT ON COLUMN cost.output_tokens IS 'Tokens of output, reasoning included';
COMMENT ON COLUMN cost.cache_read_tokens IS 'Tokens of input that were read from the cache';
COMMENT ON COLUMN cost.cache_write_tokens IS 'Tokens of input that were written to the cache';
COMMENT ON COLUMN cost.reasoning_tokens IS 'Tokens of output that are reasoning';
COMMENT ON COLUMN cost.web_searches IS 'Number of searches by the provider';
COMMENT ON COLUMN cost.stated_usd IS 'Cost in US dollars, as stated';
COMMENT ON COLUMN cost.estimated_usd IS 'Cost in US dollars, estimated; NULL: it is stated, or the model has no price';
COMMENT ON COLUMN cost.cost_usd IS 'Cost in US dollars, stated or else estimated; NULL: unknown';
COMMENT ON COLUMN cost.cost_basis IS 'logged: the log states the cost; estimated; NULL: unknown';

CREATE VIEW session AS
SELECT facts.id, facts.root, session_id, agent, task, project, branch, model, title, host, user_name, outcome, began, ended,
       active_ms, entries,
       (SELECT count(*) FROM tool_calls WHERE session = facts.id) AS calls,
       (SELECT count(*) FROM tool_calls WHERE session = facts.id
        AND (status = 'failed' OR status = 'denied' OR status = 'cancelled' OR status = 'unfinished')) AS failures,
       input_tokens, output_tokens, cost_usd, cost_basis, log
FROM session_facts AS facts LEFT JOIN (
    SELECT session, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, sum(cost_usd) AS cost_usd,
           CASE WHEN count(DISTINCT cost_basis) > 1 THEN 'mixed' ELSE min(cost_basis) END AS cost_basis
    FROM cost GROUP BY session
) AS costs ON costs.session = facts.id
WHERE entries > 0 AND facts.id NOT IN (SELECT companion FROM companions);
COMMENT ON VIEW session IS 'A session with entries. For dashboards.';
COMMENT ON COLUMN session.id IS 'Number of the session';
COMMENT ON COLUMN session.root IS 'Number of the session that a person began, of which it is a part, or which it is';
COMMENT ON COLUMN session.session_id IS 'The agent''s own id of the session';
COMMENT ON COLUMN session.agent IS 'Agent, such as claude-code';
COMMENT ON COLUMN session.task IS 'Task';
COMMENT ON COLUMN session.project IS 'Root of the repository that the session worked in, else its folder';
COMMENT ON COLUMN session.branch IS 'Branch of the version control';
COMMENT ON COLUMN session.model IS 'The latest model';
COMMENT ON COLUMN session.title IS 'Title, else the first line of a prompt';
COMMENT ON COLUMN session.host IS 'Machine of the log';
COMMENT ON COLUMN session.user_name IS 'User whose log it is on that machine';
COMMENT ON COLUMN session.outcome IS 'success, failed, limit_reached, cancelled; NULL: not stated';
COMMENT ON COLUMN session.began IS 'Earliest moment; NULL: not stated';
COMMENT ON COLUMN session.ended IS 'Latest moment; NULL: not stated';
COMMENT ON COLUMN session.active_ms IS 'Time without pauses in milliseconds, else the stated duration';
COMMENT ON COLUMN session.entries IS 'How many entries there are, or were before pruning';
COMMENT ON COLUMN session.calls IS 'Number of tool calls';
COMMENT ON COLUMN session.failures IS 'Number of tool calls that failed, were denied or cancelled, or did not finish';
COMMENT ON COLUMN session.input_tokens IS 'Tokens of input, cached ones included, without those of other sessions of its tree';
COMMENT ON COLUMN session.output_tokens IS 'Tokens of output, reasoning included, without those of other sessions of its tree';
COMMENT ON COLUMN session.cost_usd IS 'Cost in US dollars, without that of other sessions of its tree; NULL: unknown';
COMMENT ON COLUMN session.cost_basis IS 'logged: logs state it; estimated; mixed: parts of it are stated; NULL: unknown';
COMMENT ON COLUMN session.log IS 'Path of the log';

CREATE TABLE warnings (
    session  BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    kind     TEXT COLLATE "C" NOT NULL,
    subject  TEXT COLLATE "C" NOT NULL,
    count    BIGINT NOT NULL,
    line     BIGINT NOT NULL,
    "offset" BIGINT NOT NULL,
    message  TEXT COLLATE "C" NOT NULL,
    corr_id  TEXT COLLATE "C",
    sample   TEXT
);
COMMENT ON TABLE warnings IS 'What is invalid or unknown in a log: each kind and subject once, with its number and its first place.';
COMMENT ON COLUMN warnings.session IS 'The session';
COMMENT ON COLUMN warnings.kind IS 'Kind of the warning';
COMMENT ON COLUMN warnings.subject IS 'What it is about; empty: nothing in particular';
COMMENT ON COLUMN warnings.count IS 'Number of such warnings';
COMMENT ON COLUMN warnings.line IS 'Line of the first one in the source, counted from 1';
COMMENT ON COLUMN warnings."offset" IS 'Byte of the first one in the source, counted from 0';
COMMENT ON COLUMN warnings.message IS 'Message of the first one';
COMMENT ON COLUMN warnings.corr_id IS 'The agent''s own id of its call';
COMMENT ON COLUMN warnings.sample IS 'Beginning of the record, JSON';
CREATE INDEX warnings_by_session ON warnings (session, kind);

CREATE TABLE words (
    entry  BIGINT NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
    vector TSVECTOR NOT NULL
);
COMMENT ON TABLE words IS 'The words of the entries, for searches: those of the first mebibyte of each text. A long text has several rows.';
COMMENT ON COLUMN words.entry IS 'The entry';
COMMENT ON COLUMN words.vector IS 'Its words and their places';
CREATE INDEX words_by_entry ON words (entry);
CREATE INDEX words_by_vector ON words USING gin (vector);

CREATE TABLE terms (
    term TEXT COLLATE "C" NOT NULL
);
COMMENT ON TABLE terms IS 'The words of `words` that a misspelled one may stand for: those of four letters from a to z or more.';
COMMENT ON COLUMN terms.term IS 'The word; several rows may have it';
CREATE INDEX terms_by_term ON terms (term);

-- The functions that the queries of all engines use.
CREATE FUNCTION instr(text TEXT, part TEXT) RETURNS BIGINT LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN strpos(text, part);
CREATE FUNCTION has_text(text TEXT, part TEXT) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN coalesce(strpos(lower(text COLLATE "C"), lower(part COLLATE "C")) > 0, false);
-- A NUL, which JSONB cannot contain, becomes a space.
CREATE FUNCTION parsed(json TEXT) RETURNS JSONB LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CAST(CASE WHEN strpos(json, '\u0000') = 0 THEN json
                ELSE regexp_replace(json, '(?<!\\)((?:\\\\)*)\\u0000', '\1 ', 'g') END AS JSONB)
$$;
CREATE FUNCTION call_arguments(action TEXT, metadata TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    WITH data AS (
        SELECT parsed(action) AS data, CASE WHEN action IS NOT NULL THEN parsed(metadata) -> 'extra' END AS extra
    ), parts AS (
        SELECT data - ARRAY['action', 'operation', 'result', 'changes'] AS part FROM data
        UNION ALL SELECT change - ARRAY['action', 'has_line_numbers'] FROM data, jsonb_array_elements(data -> 'changes') AS change
        UNION ALL SELECT extra FROM data
    )
    SELECT string_agg(text, E'\n') FROM (
        SELECT coalesce(value #>> '{}', 'null') AS text FROM parts, jsonb_path_query(part, 'strict $.**') AS value
        WHERE jsonb_typeof(value) NOT IN ('object', 'array')
        UNION ALL SELECT jsonb_object_keys(value) FROM data, LATERAL (VALUES (data -> 'arguments'), (extra)) AS objects (part),
                  jsonb_path_query(part, 'strict $.** ? (@.type() == "object")') AS value
    ) AS texts
$$;
CREATE FUNCTION text_start(text TEXT, count INTEGER) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN left(text, count);
CREATE FUNCTION joined(list TEXT, more TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN more IS NULL THEN list WHEN list IS NULL THEN more ELSE list || ',' || more END;
CREATE AGGREGATE group_concat(TEXT) (SFUNC = joined, STYPE = TEXT);
