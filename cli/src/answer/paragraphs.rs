//! Entries as paragraphs, since messages are too long for a table.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
};

use foldline_render::terminal::neutralise_line;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::{
    layout::{Layout, OutputFormat},
    listing::Listing,
    note::note,
    print::Printed,
    value::{Kind, Value, short_id},
};
use crate::table::{clip, clip_around};

/// The smallest width of a title in the line of a reference.
const LEAST_TITLE: usize = 18;

/// The mark of the beginning of a match.
pub(crate) const MATCH_SHOWN: char = '«';

/// A paragraph about an entry.
pub(crate) struct Paragraph<'r> {
    pub(crate) at: Option<i64>,
    /// The kind of the entry.
    pub(crate) what: String,
    /// The session, by its number and the agent's id.
    pub(crate) session: (i64, &'r Option<String>),
    pub(crate) index: i64,
    /// The title of the session.
    pub(crate) title: &'r Option<String>,
    pub(crate) lines: Vec<String>,
}

/// Rows that are printed as paragraphs, or as a listing for programs.
pub(crate) struct Paragraphs<T> {
    pub(crate) rows: Vec<T>,
    /// The message for an empty answer.
    pub(crate) none: &'static str,
    /// The order of the rows, in words.
    pub(crate) order: fn(&[T]) -> String,
    pub(crate) paragraph: fn(&T) -> Paragraph<'_>,
    pub(crate) listing: fn(&[T]) -> Listing,
}

impl<T: Serialize> Printed for Paragraphs<T> {
    fn into_listing(self) -> Option<Listing> {
        Some((self.listing)(&self.rows))
    }

    fn limit(&mut self, limit: usize) -> bool {
        let is_over = self.rows.len() > limit;
        self.rows.truncate(limit);
        is_over
    }

    fn write(&self, out: &mut dyn Write, layout: Layout<'_>) -> io::Result<()> {
        if layout.format != OutputFormat::Table {
            return (self.listing)(&self.rows).write(out, layout);
        }
        if self.rows.is_empty() {
            return writeln!(out, "{}", self.none);
        }
        let paragraphs: Vec<_> = self.rows.iter().map(self.paragraph).collect();
        // If an edited copy of a log is in the database, two sessions have the same id.
        let mut by_id = BTreeMap::<String, BTreeSet<i64>>::new();
        for Paragraph { session: (number, id), .. } in &paragraphs {
            by_id
                .entry(id.as_deref().map(short_id).unwrap_or_default())
                .or_default()
                .insert(*number);
        }
        for paragraph in &paragraphs {
            let (number, id) = paragraph.session;
            let id = id.as_deref().map(short_id);
            let id = id.filter(|id| by_id.get(id).is_some_and(|numbers| numbers.len() == 1));
            let session = id.unwrap_or_else(|| number.to_string());
            paragraph.write(&session, out, layout)?;
        }
        let text = (self.order)(&self.rows) + "; foldline show SESSION:ENTRY opens an entry";
        note(out, &text, (layout.width, layout.is_coloured))
    }
}

impl Paragraph<'_> {
    fn write(
        &self,
        session: &str,
        out: &mut dyn Write,
        Layout { width, zone, .. }: Layout<'_>,
    ) -> io::Result<()> {
        let at = Value::from(self.at).shown(Kind::Moment, zone);
        let reference = format!("{session}:{}  {at}", self.index);
        let title = self.title.as_deref().unwrap_or_default();
        let what = format!("{}  {title}", self.what);
        let (reference, what) = (neutralise_line(&reference), neutralise_line(&what));
        let title = title.width().saturating_sub(LEAST_TITLE);
        let heads = match reference.width() + 2 + what.width().saturating_sub(title) <= width {
            true => vec![format!("{reference}  {what}")],
            false => vec![reference.into_owned(), what.into_owned()],
        };
        heads.iter().try_for_each(|head| writeln!(out, "{}", clip(head.trim_end(), width)))?;
        for line in &self.lines {
            let line = neutralise_line(line);
            writeln!(out, "    {}", clip_around(&line, MATCH_SHOWN, width.saturating_sub(4)))?;
        }
        writeln!(out)
    }
}
