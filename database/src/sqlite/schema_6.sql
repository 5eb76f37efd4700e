-- Version 6. What an agent may do without asking, whenever its log states something new about that.
CREATE TABLE authority (
    id              INTEGER PRIMARY KEY,
    session         INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    entries         INTEGER NOT NULL,   -- how many entries of the session were before it
    line            INTEGER NOT NULL,   -- where in the source it stands
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
