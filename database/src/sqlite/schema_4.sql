-- Version 4. A text with a million different words would take hundreds of megabytes of memory while its words are
-- added: only those of its first mebibyte are.
DROP TRIGGER entries_deleted;
DROP TRIGGER entries_changed;
DROP TABLE search;
-- The texts whose words are in the search index.
CREATE VIEW searched AS
SELECT id, iif(length(CAST(content AS BLOB)) <= 1048576, content,
               CAST(substr(CAST(content AS BLOB), 1, 1048576) AS TEXT)) AS content,
       iif(output IS NULL OR length(CAST(output AS BLOB)) <= 1048576, output,
           CAST(substr(CAST(output AS BLOB), 1, 1048576) AS TEXT)) AS output
FROM entries;
CREATE VIRTUAL TABLE search USING fts5 (
    content, output,
    content = 'searched', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO search (search, rank) VALUES ('automerge', 8);
-- Before the change of the row, which is where the words come from.
CREATE TRIGGER entries_deleted BEFORE DELETE ON entries BEGIN
    INSERT INTO search (search, rowid, content, output)
    SELECT 'delete', id, content, output FROM searched WHERE id = old.id;
END;
CREATE TRIGGER entries_change BEFORE UPDATE OF content, output ON entries
WHEN old.content IS NOT new.content OR old.output IS NOT new.output BEGIN
    INSERT INTO search (search, rowid, content, output)
    SELECT 'delete', id, content, output FROM searched WHERE id = old.id;
END;
CREATE TRIGGER entries_changed AFTER UPDATE OF content, output ON entries
WHEN old.content IS NOT new.content OR old.output IS NOT new.output BEGIN
    INSERT INTO search (rowid, content, output) SELECT id, content, output FROM searched WHERE id = new.id;
END;
INSERT INTO search (search) VALUES ('rebuild');
