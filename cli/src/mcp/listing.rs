//! Results as a list that ends with what was left out, and with the call that gets it.

use foldline_database::query::SessionFilter;
use serde_json::json;

use super::{call::Call, page::Page};
use crate::error::Error;

/// The tokens of the shortest result.
const SHORTEST: u64 = 15;

/// The largest number of results that are read for an answer. No answer has room for more.
const MOST_READ: usize = 400;

/// The number of results that are read for the answer to a call, which has no room for more.
fn most_read(call: &Call<'_>) -> usize {
    let most = call.budget().count() / SHORTEST;
    usize::try_from(most).unwrap_or(MOST_READ).clamp(1, MOST_READ)
}

/// The filter of the results after the first `offset`, as many as are read for an answer, and one more if there are.
pub(crate) fn after(call: &Call<'_>, offset: u32, filter: SessionFilter) -> SessionFilter {
    SessionFilter { offset: offset as usize, limit: Some(most_read(call) + 1), ..filter }
}

/// A list of results.
pub(crate) struct Results<'r, T> {
    /// The lines before them.
    pub(crate) head: String,
    /// The results, without those that were skipped.
    pub(crate) rows: &'r [T],
    /// The number of skipped results.
    pub(crate) offset: u32,
}

impl<T> Results<'_, T> {
    /// The results that fit, as `block` words each of them. At least one is in the answer, shortened if necessary.
    pub(crate) fn answer(
        self,
        call: &Call<'_>,
        mut block: impl FnMut(&T) -> Result<String, Error>,
    ) -> Result<String, Error> {
        let Self { head, rows, offset } = self;
        let most = most_read(call);
        let is_more = rows.len() > most;
        let rows = rows.get(..most).unwrap_or(rows);
        let words = |left: usize, shown: usize| {
            let next = usize::try_from(offset).unwrap_or(usize::MAX).saturating_add(shown);
            let left = if is_more { format!("more than {left}") } else { left.to_string() };
            let next = call.again(&[("offset", json!(next))]);
            format!("Left out: {left} more. The next: {next}\n")
        };
        let end = |shown: usize| match rows.len() - shown {
            0 if !is_more => String::new(),
            left => words(left, shown),
        };
        // Room for the longest numbers, of those left and of those shown: a call that is cut is no call.
        let longest = if rows.is_empty() { String::new() } else { words(rows.len(), rows.len()) };
        let mut page = Page::new(call.budget()).keeping(&longest);
        page.push_beginning(&head);
        let mut shown = 0;
        for row in rows {
            let block = block(row)?;
            if !page.push(&block) {
                if shown > 0 {
                    break;
                }
                page.push_beginning(&block);
            }
            shown += 1;
        }
        Ok(page.finish(&end(shown)))
    }
}
