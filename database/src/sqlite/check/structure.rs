//! Checks of the schema, and of SQLite's own structures.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::finding::{Finding, TOLD, found, told};
use crate::sqlite::{crc, schema};

/// An object of a schema: its type and its definition, which automatic indices do not have.
type Object = (String, Option<String>);

/// Checks that all tables, indices and triggers exist with their definitions. Additional objects are allowed.
pub(super) fn schema(connection: &Connection) -> rusqlite::Result<Vec<Finding>> {
    let found = objects(connection)?;
    let expected = objects(&schema::empty()?)?;
    let wrong = expected.into_iter().filter(|(name, object)| found.get(name) != Some(object));
    let finding = |(name, (kind, _)): (String, Object)| {
        let what = if found.contains_key(&name) { "has another definition" } else { "is missing" };
        Finding::new(format!("the {kind} {name} {what}"), kind == "index" || kind == "trigger")
    };
    Ok(wrong.map(finding).collect())
}

/// Objects in the schema that foldline did not create.
pub(super) fn others(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let expected = objects(&schema::empty()?)?;
    let others = objects(connection)?.into_keys().filter(|name| !expected.contains_key(name));
    Ok(others.filter(|name| !name.starts_with("sqlite_stat")).collect())
}

fn objects(connection: &Connection) -> rusqlite::Result<BTreeMap<String, Object>> {
    connection
        .prepare("SELECT name, type, sql FROM sqlite_schema")?
        .query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?
        .collect()
}

/// The indices of columns that no checksum covers: where a row and such an index differ, the row may be wrong.
const WITHOUT_SUM: [&str; 2] = [" sources_by_max_offset", " sources_by_forgotten"];

/// Checks pages, cells, free pages, rows against indices, and the form of the search index.
pub(super) fn pages(connection: &Connection) -> rusqlite::Result<Vec<Finding>> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({TOLD})"))?;
    let mut rows = statement.query([])?;
    let mut messages: Vec<String> = Vec::new();
    // The check ends at the first unreadable page, after a message about it.
    let end = loop {
        match rows.next() {
            // The messages about one file are one row of several lines, under a heading.
            Ok(Some(row)) => {
                let lines: String = row.get(0)?;
                messages.extend(
                    lines.lines().filter(|line| !line.starts_with("***")).map(str::to_owned),
                );
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    let derived = derived_roots(connection)?;
    let has_more = messages.iter().any(|message| message.contains("# of entries"));
    let lost = if has_more { with_more(connection)? } else { Vec::new() };
    let is_index = |message: &str| tree(message).is_some_and(|root| derived.contains(&root));
    let has_index = messages.iter().any(|message| is_index(message));
    let wrong = messages.into_iter().filter(|message| message != "ok").map(|message| {
        let is_derived = match tree(&message) {
            Some(_) => is_index(&message),
            // Pages below an unreadable page of an index, or else of a table with an old root page.
            None if message.contains("never used") => has_index,
            None => ["index", "fts5: ", "Freelist", "freelist"]
                .iter()
                .any(|derived| message.contains(derived)),
        };
        let is_lost = lost.iter().any(|index| message.ends_with(index))
            || WITHOUT_SUM.iter().any(|index| message.ends_with(index));
        Finding::new(message, is_derived && !is_lost)
    });
    let mut findings: Vec<Finding> = wrong.collect();
    findings.extend(partial_indices(connection)?);
    if let Err(error) = end {
        let is_derived = !findings.is_empty() && findings.iter().all(|finding| finding.is_derived);
        let ended = found("the pages and the indices", is_derived, Err(error))?;
        findings.extend(ended);
    }
    Ok(findings)
}

/// The root page of the tree in a message.
fn tree(message: &str) -> Option<i64> {
    message.strip_prefix("Tree ")?.split(' ').next()?.parse().ok()
}

/// The indices that have more entries than their tables have rows: rows are missing.
fn with_more(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut with_more = Vec::new();
    for table in crc::tables(&schema::empty()?)? {
        let indices: Vec<String> = connection
            .prepare("SELECT name FROM pragma_index_list(?1) WHERE NOT partial AND origin = 'c'")?
            .query_map([&table], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for index in indices {
            let sql = format!(
                "SELECT (SELECT count(*) FROM {table} INDEXED BY {index}) > count(*) FROM {table} NOT INDEXED"
            );
            // Another check reports unreadable indices.
            if connection.query_row(&sql, [], |row| row.get(0)).unwrap_or(false) {
                with_more.push(format!(" {index}"));
            }
        }
    }
    Ok(with_more)
}

/// Partial indices whose number of entries differs from the number of matching rows, which SQLite does not
/// check. If there are more entries than rows, rows are missing.
fn partial_indices(connection: &Connection) -> rusqlite::Result<Vec<Finding>> {
    let partial: Vec<(String, String, String)> = schema::empty()?
        .prepare(
            "SELECT name, tbl_name, substr(sql, instr(sql, 'WHERE ')) FROM sqlite_schema
             WHERE type = 'index' AND instr(sql, 'WHERE ')",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<Result<_, _>>()?;
    let findings = partial.into_iter().filter_map(|(index, table, condition)| {
        let sql = format!(
            "SELECT (SELECT count(*) FROM {table} INDEXED BY {index} {condition})
                    - (SELECT count(*) FROM {table} NOT INDEXED {condition})"
        );
        // Another check reports unreadable indices.
        let more: i64 = connection.query_row(&sql, [], |row| row.get(0)).unwrap_or(0);
        let message = format!("wrong # of entries in the partial index {index}");
        (more != 0).then(|| Finding::new(message, more < 0))
    });
    Ok(findings.collect())
}

/// The root pages of indices and of the search index.
fn derived_roots(connection: &Connection) -> rusqlite::Result<Vec<i64>> {
    connection
        .prepare(
            "SELECT rootpage FROM sqlite_schema
             WHERE rootpage > 0 AND (type = 'index' OR name GLOB 'search_*')",
        )?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// Rows that refer to missing rows.
pub(super) fn references(connection: &Connection) -> rusqlite::Result<Vec<Finding>> {
    told(
        connection,
        "SELECT 'a row of ' || \"table\" || coalesce(' (' || rowid || ')', '') || ' refers to a missing row of ' || parent
         FROM pragma_foreign_key_check",
        false,
    )
}
