//! Requests for a session as it was at a moment.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};

use super::{
    app::App,
    failed::Failed,
    live::{LiveSession, Step},
    page::{self, Window},
    request::{Path, Query, blocking, live},
    sessions,
};

/// The requested moment: the moment after a number of milliseconds, or the target of a step from another
/// moment, or a moment itself.
#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    offset: Option<u64>,
    moment: Option<usize>,
    step: Option<Step>,
    /// The moment that the reader sees, which needs no entries.
    has: Option<usize>,
    /// Whether the column beside the entries can wait: of a long session it is as large as the rest.
    #[serde(default)]
    is_brief: bool,
}

/// A session as it was at a moment.
#[derive(Serialize)]
pub(super) struct Past {
    /// The number of events until then, and until now.
    moment: usize,
    last: usize,
    /// The time since the beginning, and the length of the session, in milliseconds with long pauses shortened.
    offset: u64,
    length: u64,
    /// The moment for people.
    words: String,
    /// The content, unless the reader already has it.
    shown: Option<Shown>,
}

#[derive(Serialize)]
struct Shown {
    about: String,
    side: Option<String>,
    /// The entries and gaps, in order. Unchanged entries are not replaced.
    parts: Vec<String>,
}

pub(super) async fn past(
    State(app): State<Arc<App>>,
    Path(name): Path,
    Query(asked): Query<Asked>,
) -> Result<Json<Past>, Failed> {
    let path = sessions::path(&name);
    let (_, live) = live(&app, name).await?;
    let made = blocking(&app, move |_| Ok(at(&path, &live, &asked)));
    Ok(Json(made.await?))
}

fn at(path: &str, live: &LiveSession, asked: &Asked) -> Past {
    let document = live.document();
    let timeline = &*Arc::clone(&document.timeline);
    let last = timeline.last();
    let from = asked.moment.unwrap_or(last).min(last);
    let moment = match (asked.offset, asked.step) {
        (Some(offset), _) => timeline.at(offset),
        (None, Some(step)) => timeline.step(from, step),
        (None, None) => from,
    };
    let words = page::words(timeline, moment);
    let shown = (asked.has != Some(moment)).then(|| document.shown(Some(moment)));
    drop(document);
    let shown = shown.map(|mut shown| {
        shown.add(&live.tree().0);
        let past = shown.snapshot;
        let mut parts = Window::at(&past, Some(moment)).recent();
        parts.push(page::end(path, timeline, moment).into_string());
        let side = (!asked.is_brief).then(|| past.side());
        Shown { about: past.about(), side, parts }
    });
    let (offset, length) = (timeline.offset(moment), timeline.length());
    Past { moment, last, offset, length, words, shown }
}
