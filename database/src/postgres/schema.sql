-- The tables of the SQLite database, in the schema `foldline`. What differs: there are no checksums of rows (PostgreSQL
-- has checksums of pages); a session has the lines that name it; the search index is the table `words`. In texts, NUL
-- is U+FDD2, since PostgreSQL has no NUL, and U+FDD3 precedes a U+FDD2 or U+FDD3 of the text itself. Texts of logs
-- are indexed by a hash, since they may be longer than an entry of a B-tree.

-- What was read, how far, and the reducer's state there: committed together with the rows.
CREATE TABLE sources (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        TEXT COLLATE "C" NOT NULL,
    path        TEXT COLLATE "C" NOT NULL,
    format      TEXT COLLATE "C" NOT NULL, -- droid, claude-stream, ...
    device      BIGINT,
    inode       BIGINT,
    size        BIGINT NOT NULL,
    modified_at BIGINT,
    changed_ns  BIGINT,
    read_length BIGINT NOT NULL,
    read_edges  BYTEA NOT NULL,
    read_sha256 BYTEA,
    first_line  BYTEA,
    line        BIGINT NOT NULL,        -- where the next record begins, counted from 1
    "offset"    BIGINT NOT NULL,        -- the same in bytes, counted from 0
    state       TEXT NOT NULL,          -- the executor's state there, JSON
    complete    BOOLEAN NOT NULL,
    host        TEXT COLLATE "C",       -- the machine that it is on
    user_name   TEXT COLLATE "C",       -- whose file it is there
    session     BIGINT,                 -- the latest session
    -- All of its sessions were forgotten: it is known only so that nothing more of its log is stored.
    forgotten   BOOLEAN NOT NULL DEFAULT FALSE,
    EXCLUDE USING hash (name WITH =)
);
CREATE INDEX sources_by_path ON sources USING hash (path);
CREATE INDEX sources_by_host ON sources USING hash (host);
CREATE INDEX sources_by_user_name ON sources USING hash (user_name);

-- The marks stored with the rows, such as the offsets of a topic: committed together with the rows of the same events.
CREATE TABLE outputs (
    name  TEXT COLLATE "C" NOT NULL,
    state TEXT NOT NULL                 -- JSON
);
CREATE UNIQUE INDEX outputs_by_name ON outputs (md5(name));

-- One row a session of a source.
CREATE TABLE sessions (
    id                BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source            BIGINT NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    number            BIGINT NOT NULL,  -- 0, 1, 2, .. within the source
    session_id        TEXT COLLATE "C", -- the agent's own id
    task              TEXT COLLATE "C",
    agent             TEXT COLLATE "C",
    version           TEXT COLLATE "C",
    model             TEXT COLLATE "C", -- the latest
    provider          TEXT COLLATE "C",
    reasoning_effort  TEXT COLLATE "C",
    cwd               TEXT COLLATE "C",
    branch            TEXT COLLATE "C",
    title             TEXT COLLATE "C",
    tools             TEXT COLLATE "C", -- JSON array of names
    parent_session_id TEXT COLLATE "C",
    parent_relation   TEXT COLLATE "C", -- what it is to its parent: sub_agent, fork, continuation
    parent_call       TEXT COLLATE "C", -- the call of its parent that started it
    outcome           TEXT COLLATE "C", -- success, failed, limit_reached, cancelled
    outcome_reason    TEXT COLLATE "C",
    turns             BIGINT,
    duration_ms       BIGINT,           -- as stated
    active_ms         BIGINT NOT NULL DEFAULT 0, -- without pauses: the sum of the gaps between events up to five minutes
    started_at        BIGINT,           -- as stated; moments are milliseconds since 1970
    ended_at          BIGINT,           -- as stated
    first_at          BIGINT,           -- the earliest moment seen
    last_at           BIGINT,           -- the latest moment seen
    entries           BIGINT NOT NULL DEFAULT 0, -- how many there are, or were before pruning
    pruned_to         BIGINT,           -- entries before this byte of the source were removed; NULL: none
    title_line        TEXT COLLATE "C", -- the line of the title that names the session
    prompt_line       TEXT COLLATE "C", -- the first line of a prompt that names it
    any_prompt_line   TEXT COLLATE "C", -- the first line of a prompt, whatever it says
    UNIQUE (source, number)
);
CREATE INDEX sessions_by_session_id ON sessions USING hash (session_id);
CREATE INDEX sessions_by_parent ON sessions USING hash (parent_session_id) WHERE parent_session_id IS NOT NULL;
CREATE INDEX sessions_by_task ON sessions USING hash (task);

-- Sessions that were removed for good, so that rows of them are not written again.
CREATE TABLE forgotten (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source     TEXT COLLATE "C" NOT NULL, -- the name of its source
    number     BIGINT,                    -- within the source
    agent      TEXT COLLATE "C",
    session_id TEXT COLLATE "C",
    anywhere   BOOLEAN NOT NULL           -- the id is forgotten in all logs: no other session had it
);
CREATE INDEX forgotten_by_source ON forgotten USING hash (source);
CREATE INDEX forgotten_by_session_id ON forgotten USING hash (session_id);

-- What an agent may do without asking, whenever its log states something new about that.
CREATE TABLE authority (
    id              BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session         BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    entries         BIGINT NOT NULL,    -- how many entries of the session were before it
    line            BIGINT NOT NULL,    -- its line in the source
    "offset"        BIGINT NOT NULL,
    since           BIGINT,             -- the moment, as stated
    last_at         BIGINT,             -- the latest moment before it
    permission_mode TEXT COLLATE "C",   -- in the agent's words
    approval_policy TEXT COLLATE "C",
    sandbox         TEXT COLLATE "C",
    allowed         TEXT COLLATE "C"    -- reading, asking, edits, sandbox, policy, everything; NULL: unknown
);
CREATE INDEX authority_by_session ON authority (session);
CREATE INDEX authority_by_allowed ON authority (allowed);

-- The records that a conversation may have ended with: the last one before each prompt, and the last one. By these, other
-- logs name the session. Only of sessions whose log stated no title so far.
CREATE TABLE leaves (
    session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    idx     BIGINT NOT NULL,            -- 0, 1, 2, .. within the session
    record  TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session, idx)
);

-- Titles of the sessions with these records, as other logs state them.
CREATE TABLE record_titles (
    session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, -- that states it
    record  TEXT COLLATE "C" NOT NULL,
    title   TEXT COLLATE "C" NOT NULL,
    line    TEXT COLLATE "C"            -- the line of it that names the session
);
CREATE UNIQUE INDEX record_titles_by_session ON record_titles (session, md5(record));
CREATE INDEX record_titles_by_record ON record_titles USING hash (record);

-- The titles that other logs state of a session. That of the greatest `idx` is the latest.
CREATE VIEW other_titles AS
SELECT leaves.session, idx, title, line FROM leaves JOIN record_titles ON record_titles.record = leaves.record;

-- What is stated about the limits of an account: the latest of each limit, in each session.
CREATE TABLE limits (
    id             BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session        BIGINT REFERENCES sessions (id) ON DELETE CASCADE,
    agent          TEXT COLLATE "C",
    name           TEXT COLLATE "C" NOT NULL, -- primary, five_hour, .. as the log names it
    used_percent   DOUBLE PRECISION NOT NULL,
    window_minutes BIGINT,
    resets_at      BIGINT,              -- the moment after which it says nothing
    at             BIGINT               -- the moment at which it is stated
);
CREATE UNIQUE INDEX limits_by_session ON limits (session, md5(name));

-- The project of a folder that an agent worked in: the root of its repository, as it was when the folder was there.
CREATE TABLE folders (
    folder  TEXT COLLATE "C" PRIMARY KEY, -- as logs state it
    project TEXT COLLATE "C" NOT NULL,
    tree    TEXT COLLATE "C" NOT NULL     -- the work tree that it is in; else as the project
);

CREATE TABLE entries (
    id             BIGINT PRIMARY KEY,
    session        BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    idx            BIGINT NOT NULL,     -- 0, 1, 2, .. within the session
    type           TEXT COLLATE "C" NOT NULL,
    code           TEXT COLLATE "C",    -- of a diagnostic: the kind of warning
    timestamp      BIGINT,
    line           BIGINT NOT NULL,     -- its line in the source
    "offset"       BIGINT NOT NULL,
    parent_corr_id TEXT COLLATE "C",
    metadata       TEXT,                -- JSON; what the columns hold is left out
    content        TEXT NOT NULL,       -- what was said; of a tool call, a short title
    output         TEXT                 -- what a tool gave back
);
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
    reason      TEXT COLLATE "C",       -- why it was denied
    duration_ms BIGINT,
    exit_code   BIGINT,
    output_json BOOLEAN NOT NULL,       -- the output is structured data
    child_session_id TEXT COLLATE "C",  -- the agent's id of the session that it started
    action      TEXT NOT NULL           -- JSON, without the output
);
CREATE INDEX tool_calls_by_corr_id ON tool_calls (session, md5(corr_id));
CREATE INDEX tool_calls_by_child ON tool_calls (session) WHERE child_session_id IS NOT NULL;
CREATE INDEX tool_calls_by_session ON tool_calls (session, status);
CREATE INDEX tool_calls_failed ON tool_calls (status)
    WHERE status = 'failed' OR status = 'denied' OR status = 'cancelled' OR status = 'unfinished';

CREATE TABLE tool_paths (
    entry  BIGINT NOT NULL REFERENCES tool_calls (entry) ON DELETE CASCADE,
    path   TEXT COLLATE "C" NOT NULL,
    change TEXT COLLATE "C" NOT NULL    -- read, write, edit, delete, rename_from, rename_to
);
CREATE INDEX tool_paths_by_entry ON tool_paths (entry);

-- Entries that still grow.
CREATE TABLE open_entries (
    session BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    corr_id TEXT COLLATE "C" NOT NULL,
    entry   BIGINT NOT NULL REFERENCES entries (id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX open_entries_by_corr_id ON open_entries (session, md5(corr_id));
CREATE INDEX open_entries_by_entry ON open_entries (entry);

-- NULL is unknown, which is not zero. The model '' is one that the log does not name, the moment -1 one that it does
-- not state, the message '' is any that no other log contains.
CREATE TABLE message_usage (
    session               BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    message_id            TEXT COLLATE "C" NOT NULL,
    model                 TEXT COLLATE "C" NOT NULL,
    used_at               BIGINT NOT NULL,
    input_tokens          BIGINT,       -- cached ones included
    output_tokens         BIGINT,       -- reasoning included
    cache_read_tokens     BIGINT,
    cache_write_tokens    BIGINT,
    cache_write_1h_tokens BIGINT,       -- those of them that are kept for an hour
    reasoning_tokens      BIGINT,
    web_searches          BIGINT,
    cost_usd              DOUBLE PRECISION
);
CREATE UNIQUE INDEX message_usage_by_place ON message_usage (session, md5(message_id), md5(model), used_at);
CREATE INDEX message_usage_by_message ON message_usage USING hash (message_id) WHERE message_id <> '';

-- The models of the usage, each once.
CREATE TABLE models (model TEXT COLLATE "C" NOT NULL);
CREATE UNIQUE INDEX models_by_model ON models (md5(model));

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
    GROUP BY session ORDER BY sum(CAST(output_tokens AS DOUBLE PRECISION)) DESC NULLS LAST, sum(coalesce(cost_usd, 0)) DESC, min(used_at), session LIMIT 1
));

-- A session that is a part of another one, such as that of a sub-agent, with that other one: of several logs of one
-- session the one with the call that started it, or else the first with entries, a transcript of Cursor last. NULL: it is in no log, or not read yet.
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
    SELECT session, message_id, min(CAST(substr(message_id, 8) AS BIGINT)) AS since, max(used_at) AS until FROM message_usage
    WHERE message_id >= 'window:' AND message_id < 'window;' AND message_id ~ '^window:[0-9]{1,18}$' AND cost_usd IS NOT NULL GROUP BY session, message_id
)
SELECT DISTINCT used.session, used.message_id, used.model, used.used_at
FROM windows JOIN trees AS stated ON stated.session = windows.session
JOIN trees AS part ON part.root = stated.root AND part.session <> stated.session
JOIN sessions ON sessions.id = part.session AND sessions.parent_relation = 'sub_agent'
JOIN message_usage AS used ON used.session = part.session AND used.used_at BETWEEN since AND until;

-- The prices of the models that were used, in US dollars a token, for the view `cost`: those that were built into the
-- program that stored the first use of the model.
CREATE TABLE prices (
    model          TEXT COLLATE "C" NOT NULL,
    until          BIGINT NOT NULL,    -- for requests before this moment; -1: for any later one
    more_than      BIGINT NOT NULL,    -- for requests of more tokens of input; -1: for any
    input          DOUBLE PRECISION NOT NULL,
    output         DOUBLE PRECISION NOT NULL,
    cache_read     DOUBLE PRECISION NOT NULL,
    cache_write    DOUBLE PRECISION NOT NULL,
    cache_write_1h DOUBLE PRECISION NOT NULL
);
CREATE UNIQUE INDEX prices_by_model ON prices (md5(model), until, more_than);

-- For people and dashboards: names, and times as text in UTC. A session with entries.
CREATE VIEW session AS
SELECT sessions.id, session_id, agent, coalesce(folders.project, cwd) AS project, branch, model,
       coalesce(sessions.title_line,
                (SELECT line FROM other_titles WHERE session = sessions.id ORDER BY idx DESC, title LIMIT 1),
                sessions.prompt_line, sessions.any_prompt_line) AS title, outcome,
       to_char(to_timestamp((coalesce(first_at, started_at)) / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS began,
       to_char(to_timestamp((coalesce(last_at, ended_at)) / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS ended,
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
       to_char(to_timestamp((timestamp) / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS at, tool_name AS tool, kind, entries.content AS what, status,
       exit_code, tool_calls.duration_ms
FROM tool_calls JOIN entries ON entries.id = tool_calls.entry JOIN sessions ON sessions.id = tool_calls.session
LEFT JOIN folders ON folder = cwd;

-- The tokens of a message, and its cost: as a log states it, or else estimated from the prices, unless the log states
-- what the session, or a window of its tree, cost as a whole.
CREATE VIEW cost AS
SELECT sessions.id AS session, session_id, agent, coalesce(folders.project, cwd) AS project, branch,
       nullif(usage.model, '') AS model,
       to_char(to_timestamp((nullif(used_at, -1)) / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS at,
       to_char(to_timestamp((nullif(used_at, -1)) / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
       usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens,
       usage.reasoning_tokens, usage.cost_usd AS stated_usd,
       CASE WHEN usage.cost_usd IS NULL AND NOT EXISTS (
           SELECT 1 FROM message_usage AS whole WHERE whole.session = usage.session
           AND whole.cost_usd IS NOT NULL AND whole.input_tokens IS NULL AND whole.output_tokens IS NULL
       ) AND (usage.session, message_id, usage.model, used_at) NOT IN (SELECT * FROM windowed_usage) THEN (
           SELECT greatest(greatest(coalesce(usage.input_tokens, 0) - coalesce(usage.cache_read_tokens, 0), 0) - coalesce(usage.cache_write_tokens, 0), 0) * prices.input
                  + coalesce(usage.cache_read_tokens, 0) * prices.cache_read
                  + (coalesce(usage.cache_write_tokens, 0) - least(coalesce(usage.cache_write_1h_tokens, 0), coalesce(usage.cache_write_tokens, 0))) * prices.cache_write
                  + least(coalesce(usage.cache_write_1h_tokens, 0), coalesce(usage.cache_write_tokens, 0)) * prices.cache_write_1h
                  + coalesce(usage.output_tokens, 0) * prices.output + coalesce(usage.web_searches, 0) * 0.01
           FROM prices
           WHERE prices.model = usage.model AND (until < 0 OR (used_at >= 0 AND used_at < until))
           AND (more_than < 0 OR (message_id <> '' AND coalesce(usage.input_tokens, 0) > more_than))
           AND coalesce(usage.input_tokens, 0) + coalesce(usage.output_tokens, 0) + coalesce(usage.cache_read_tokens, 0) + coalesce(usage.cache_write_tokens, 0)
               + coalesce(usage.web_searches, 0) > 0
           ORDER BY CASE WHEN until < 0 THEN 9223372036854775807 ELSE until END, more_than DESC LIMIT 1
       ) END AS estimated_usd
FROM usage JOIN sessions ON sessions.id = usage.session LEFT JOIN folders ON folder = cwd;

-- Each kind and subject once: how often, and where first.
CREATE TABLE warnings (
    session  BIGINT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    kind     TEXT COLLATE "C" NOT NULL,
    subject  TEXT COLLATE "C" NOT NULL, -- '' where there is none
    count    BIGINT NOT NULL,
    line     BIGINT NOT NULL,
    "offset" BIGINT NOT NULL,
    message  TEXT COLLATE "C" NOT NULL,
    corr_id  TEXT COLLATE "C",
    sample   TEXT
);
CREATE INDEX warnings_by_session ON warnings (session, kind);

-- The words of the entries: those of the first mebibyte of each text. A long text has several pieces.
CREATE TABLE words (
    entry  BIGINT NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
    vector TSVECTOR NOT NULL
);
CREATE INDEX words_by_entry ON words (entry);
CREATE INDEX words_by_vector ON words USING gin (vector);

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
