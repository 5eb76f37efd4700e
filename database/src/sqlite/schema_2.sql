-- Version 2. Sessions are numbered within their source, and two sessions may have open entries of one id.
ALTER TABLE sessions ADD COLUMN number INTEGER NOT NULL DEFAULT 0; -- 0, 1, 2, .. within the source
UPDATE sessions SET number = (
    SELECT count(*) FROM sessions AS earlier
    WHERE earlier.source = sessions.source AND earlier.id < sessions.id
);
CREATE UNIQUE INDEX sessions_by_number ON sessions (source, number);

ALTER TABLE open_entries RENAME TO open_entries_of_sources;
DROP INDEX open_entries_by_entry;
-- Entries that still grow.
CREATE TABLE open_entries (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    corr_id TEXT NOT NULL,
    entry   INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
    PRIMARY KEY (session, corr_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX open_entries_by_entry ON open_entries (entry);
INSERT INTO open_entries
SELECT entries.session, corr_id, entry
FROM open_entries_of_sources AS growing JOIN entries ON entries.id = growing.entry;
DROP TABLE open_entries_of_sources;
