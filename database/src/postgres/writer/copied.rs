//! [`Copied`]: new rows, which are copied to the server table by table.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write as _,
};

use foldline_domain::{CorrId, SessionId};

use crate::{
    NewEntry, ToolRow,
    arguments::arguments,
    postgres::{
        error::PostgresFailure,
        statements::{Connection, signed, text},
    },
    words,
};

/// New rows, in the text format of `COPY`.
#[derive(Default)]
pub(super) struct Copied {
    /// Numbers of entries that are not used yet, the next one last.
    ids: Vec<i64>,
    entries: Table,
    calls: Table,
    paths: Table,
    /// The latest entry that grows under an id, by the session and the id.
    open: BTreeMap<(i64, String), i64>,
    words: Table,
    /// Words that a misspelled one may stand for.
    terms: BTreeSet<String>,
}

/// The rows of a table.
#[derive(Default)]
struct Table(Vec<u8>);

/// A value of a row.
enum CopyField<'f> {
    Number(i64),
    Truth(bool),
    Text(&'f str),
    Null,
}

impl<'f, T: Into<CopyField<'f>>> From<Option<T>> for CopyField<'f> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl From<i64> for CopyField<'_> {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl<'f> From<&'f str> for CopyField<'f> {
    fn from(text: &'f str) -> Self {
        Self::Text(text)
    }
}

impl Table {
    fn add<const N: usize>(&mut self, fields: [CopyField<'_>; N]) {
        for (at, field) in fields.into_iter().enumerate() {
            if at > 0 {
                self.0.push(b'\t');
            }
            match field {
                // Writing to memory cannot fail.
                CopyField::Number(number) => drop(write!(self.0, "{number}")),
                CopyField::Truth(is) => self.0.push(if is { b't' } else { b'f' }),
                CopyField::Null => self.0.extend(b"\\N"),
                CopyField::Text(value) => self.text(value),
            }
        }
        self.0.push(b'\n');
    }

    fn text(&mut self, value: &str) {
        let stored = text(value);
        let mut rest = stored.as_bytes();
        while let Some(at) =
            rest.iter().position(|byte| matches!(byte, b'\\' | b'\n' | b'\r' | b'\t'))
        {
            let (before, special) = rest.split_at(at);
            self.0.extend(before);
            self.0.extend(match special.first() {
                Some(b'\\') => b"\\\\",
                Some(b'\n') => b"\\n",
                Some(b'\r') => b"\\r",
                _ => b"\\t",
            });
            rest = special.get(1..).unwrap_or_default();
        }
        self.0.extend(rest);
    }

    fn flush(&mut self, session: &mut Connection, table: &str) -> Result<(), PostgresFailure> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut copy = session.client.copy_in(&format!("COPY {table} FROM STDIN"))?;
        for piece in self.0.chunks(1 << 20) {
            // The error of the server is the result of `finish`.
            if copy.write_all(piece).is_err() {
                break;
            }
        }
        copy.finish()?;
        self.0.clear();
        Ok(())
    }
}

impl Copied {
    /// Begins with the numbers of the entries to come.
    pub(super) fn new(mut ids: Vec<i64>) -> Self {
        ids.reverse();
        Self { ids, ..Self::default() }
    }

    /// Adds an entry, at this place of a session.
    pub(super) fn add(&mut self, (session, idx): (i64, i64), new: &NewEntry) {
        let NewEntry { position, entry, corr_id, grows } = new;
        let id = self.ids.pop().unwrap_or_default();
        self.entries.add([
            id.into(),
            session.into(),
            idx.into(),
            entry.type_name.into(),
            entry.code.as_deref().into(),
            entry.timestamp.into(),
            signed(position.line).into(),
            signed(position.offset).into(),
            entry.parent_corr_id.as_ref().map(CorrId::as_str).into(),
            entry.metadata.as_deref().into(),
            entry.content.as_str().into(),
            entry.output.as_deref().into(),
        ]);
        let call = entry.tool.as_ref().map(|tool| (tool, entry.metadata.as_deref()));
        self.add_words(id, &entry.content, entry.output.as_deref(), call);
        let Some(corr_id) = corr_id else { return };
        if *grows {
            self.open.insert((session, corr_id.as_str().to_owned()), id);
        }
        if let Some(tool) = &entry.tool {
            self.add_tool(id, session, corr_id, tool);
        }
    }

    /// Adds the call of an entry.
    pub(super) fn add_tool(&mut self, id: i64, session: i64, corr_id: &CorrId, tool: &ToolRow) {
        self.calls.add([
            id.into(),
            session.into(),
            corr_id.as_str().into(),
            tool.kind.into(),
            tool.action_name.into(),
            tool.tool_name.as_str().into(),
            tool.status.into(),
            tool.reason.as_deref().into(),
            tool.duration_ms.map(signed).into(),
            tool.exit_code.map(i64::from).into(),
            CopyField::Truth(tool.output_json),
            tool.child_session_id.as_ref().map(SessionId::as_str).into(),
            tool.action.as_str().into(),
        ]);
        let mut paths: Vec<_> = tool.paths.iter().collect();
        paths.sort_unstable();
        paths.dedup();
        for (path, change) in paths {
            self.paths.add([id.into(), path.as_str().into(), (*change).into()]);
        }
    }

    /// Adds the words of an entry and its call, which has metadata of the entry.
    pub(super) fn add_words(
        &mut self,
        id: i64,
        content: &str,
        output: Option<&str>,
        call: Option<(&ToolRow, Option<&str>)>,
    ) {
        let arguments =
            call.and_then(|(tool, metadata)| arguments(&tool.action, content, metadata));
        let reason = call.and_then(|(tool, _)| tool.reason.as_deref());
        let texts = [Some(content), arguments.as_deref(), output, reason];
        for vector in words::vectors(texts.into_iter().flatten(), &mut self.terms) {
            self.words.add([id.into(), vector.as_str().into()]);
        }
    }

    /// Copies the rows.
    pub(super) fn flush(&mut self, session: &mut Connection) -> Result<(), PostgresFailure> {
        let Self { ids: _, entries, calls, paths, open, words, terms } = self;
        for (rows, table) in
            [(entries, "entries"), (calls, "tool_calls"), (paths, "tool_paths"), (words, "words")]
        {
            rows.flush(session, table)?;
        }
        let sql = "INSERT INTO open_entries VALUES ($1, $2, $3)
                   ON CONFLICT (session, md5(corr_id)) DO UPDATE SET entry = excluded.entry";
        for ((of, corr_id), id) in std::mem::take(open) {
            session.run(sql, &[&of, &text(&corr_id), &id])?;
        }
        // Programs that write at the same time do not wait for one another, and may both add a word.
        let sql = "INSERT INTO terms SELECT term FROM unnest($1::text[]) AS new (term)
                   WHERE NOT EXISTS (SELECT 1 FROM terms WHERE terms.term = new.term)";
        let terms: Vec<_> = std::mem::take(terms).into_iter().collect();
        if !terms.is_empty() {
            session.run(sql, &[&terms])?;
        }
        Ok(())
    }
}
