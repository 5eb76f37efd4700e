-- Version 5. A log that continues in another file restarts at byte 0, and its earlier entries are further on.
ALTER TABLE sources ADD COLUMN max_offset INTEGER NOT NULL DEFAULT 0; -- the greatest offset in any of its files
UPDATE sources SET max_offset = max(offset, coalesce((
    SELECT max(entries.offset) FROM entries JOIN sessions ON sessions.id = entries.session
    WHERE sessions.source = sources.id
), 0));
-- SQLite compares the index with the column, which no checksum covers.
CREATE INDEX sources_by_max_offset ON sources (max_offset);
