//! The outline of a session: what was asked, what failed, what was changed, and what was answered in the end.

use foldline_database::query::{FoundEntry, SessionFilter, SessionName, SessionRow};
use foldline_render::human;

use super::reason::reason;
use crate::{
    error::Error,
    mcp::{
        call::{Call, of_number},
        quote::{clip, output, quoted},
    },
    verbs::diff,
};

/// The longest texts in characters: of the first prompt and of the last answer; of a failure; of all paths.
const SAID: usize = 240;
const FAILURE: usize = 120;
const PATHS: usize = 160;

/// The number of failures whose reason is named.
const FAILURES: usize = 2;

/// What a report of the session has, in some three hundred tokens.
pub(super) fn outline(call: &Call<'_>, session: &SessionRow, name: &str) -> Result<String, Error> {
    let mut outline = String::new();
    if let Some(prompt) = call.database.prompts(&of_number(session.number))?.pop() {
        let said = call.line(&prompt.text, SAID);
        outline.push_str(&format!("First prompt {name}:{}\n{}", prompt.index, quoted(&said)));
    }
    let tree = Some(SessionName::TreeOf(session.number));
    let tree = SessionFilter { name: tree, ..SessionFilter::default() };
    let failures = call.database.failures(&tree)?;
    if !failures.is_empty() {
        outline
            .push_str(&format!("{}, the latest:\n", human::number_of(failures.len(), "failure")));
    }
    for failure in failures.iter().take(FAILURES) {
        let of = call.name(failure.session, failure.session_id.as_deref())?;
        outline.push_str(&format!("{of}:{}\n{}", failure.index, quoted(&failed(call, failure))));
    }
    let files = diff::changes(&**call.database, session.number)?;
    if !files.is_empty() {
        let paths = files.iter().map(|file| {
            format!("{} +{} -{}", call.line(&file.path, PATHS), file.added, file.removed)
        });
        let paths = paths.collect::<Vec<_>>().join(", ");
        let files = human::number_of(files.len(), "changed file");
        outline.push_str(&format!("{files}\n{}", quoted(&clip(&paths, PATHS))));
    }
    if let Some(answer) = call.database.last_answer(session.number)? {
        outline.push_str(&format!("Last answer\n{}", quoted(&call.line(&answer, SAID))));
    }
    Ok(outline)
}

/// A failure: its call, and the line that says why it failed.
fn failed(call: &Call<'_>, failure: &FoundEntry) -> String {
    let text = call.text(failure.content.as_deref().unwrap_or_default());
    let (lines, _) = reason(&text, 1);
    let why = output(lines.first().copied().unwrap_or_default());
    let text = |text: &Option<String>| call.line(text.as_deref().unwrap_or_default(), FAILURE);
    let parts = [text(&failure.tool), text(&failure.what), why.trim().to_owned()];
    let mut parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    // Some tools have no title.
    parts.dedup();
    clip(&parts.join(": "), FAILURE).replace('\n', " ")
}
