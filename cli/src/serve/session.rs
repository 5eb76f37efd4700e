//! Requests for a session: its page, parts of it, and searches in it.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, header},
    response::{Html, IntoResponse, Response},
};
use foldline_domain::EntryIdx;
use serde::{Deserialize, Serialize};

use super::{
    app::App,
    events, explain,
    failed::Failed,
    filter,
    page::{self, SessionPage, Wanted, Window},
    picture,
    request::{At, Path, Query, SEARCH, blocking, live, patiently, place, refresh},
    sessions,
};
use crate::verbs::{
    diff,
    export::{Format, document},
};

/// Which part of a session is shown: the present or a moment, what is around an entry, what one was made from, or
/// only a picture.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shown {
    at: Option<usize>,
    moment: Option<usize>,
    explain: Option<usize>,
    picture: Option<String>,
    show: Option<String>,
    view: Option<View>,
}

/// What is shown in place of the conversation.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum View {
    Changes,
}

pub(super) async fn page(
    State(app): State<Arc<App>>,
    Path(name): Path,
    Query(at): Query<Shown>,
) -> Result<Response, Failed> {
    if let Some(picture) = &at.picture {
        return picture::response(&app, name, picture).await;
    }
    if let Some(View::Changes) = at.view {
        return changes(&app, name).await;
    }
    let explained = match at.explain {
        Some(entry) => Some((entry, explained(&app, name.clone(), entry).await?)),
        None => None,
    };
    let path = sessions::path(&name);
    let (number, live) = live(&app, name).await?;
    refresh(&app, number, &live).await;
    let made = blocking(&app, move |_| {
        let mut shown = live.shown(|timeline| at.moment.filter(|moment| *moment < timeline.last()));
        if let Some((entry, html)) = &explained {
            shown.snapshot.append_to(EntryIdx::new(*entry), html);
        }
        let status = events::status(shown.outcome, live.grew(), shown.tree.is_waiting);
        let around = at.explain.or(at.at);
        let page =
            SessionPage { path: &path, shown: &shown, status, around, show: at.show.as_deref() };
        Ok(page.render())
    });
    Ok(Html(made.await?).into_response())
}

/// All that a session changed.
async fn changes(app: &Arc<App>, name: String) -> Result<Response, Failed> {
    let made = blocking(app, move |app| {
        let database = app.database()?;
        let Some(source) = sessions::source(&*database, &name)? else { return Ok(None) };
        let row = database.session_row(source.number)?;
        let (title, folder) = row.map_or((None, None), |row| (row.title, row.cwd));
        let title = title.filter(|title| !title.trim().is_empty());
        let sections = diff::changes(&*database, source.number)?;
        let path = sessions::path(&name);
        Ok(Some(page::changes(
            title.as_deref().unwrap_or("Session"),
            &path,
            folder.as_deref(),
            &sections,
        )))
    });
    Ok(Html(made.await?.ok_or_else(Failed::not_found)?).into_response())
}

/// How a session is exported.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Export {
    format: Format,
    redact: bool,
}

/// The session so far as one file, as `foldline export` writes it.
pub(super) async fn export(
    State(app): State<Arc<App>>,
    Path(name): Path,
    Query(Export { format, redact }): Query<Export>,
) -> Result<Response, Failed> {
    let mut plain =
        name.replace(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-', "_");
    plain.truncate(100);
    let made = blocking(&app, move |app| {
        let database = app.database()?;
        let Some(source) = sessions::source(&*database, &name)? else { return Ok(None) };
        let how = (format, redact);
        document(&*database, source.number, how, &app.prices, &app.zone).map(Some)
    });
    let made = made.await?.ok_or_else(Failed::not_found)?;
    let kind = match format {
        Format::Html => "text/html; charset=utf-8",
        Format::Md => "text/markdown; charset=utf-8",
        Format::Json | Format::Atif => "application/json",
        Format::Jsonl | Format::Parquet => "application/jsonl",
    };
    let name = format!("attachment; filename=\"{plain}.{}\"", format.ending());
    Ok(([(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, name)], made)
        .into_response())
}

pub(super) async fn fragments(
    State(app): State<Arc<App>>,
    Path(name): Path,
    Query(at): Query<At>,
    headers: HeaderMap,
) -> Result<Response, Failed> {
    let (number, live) = live(&app, name).await?;
    Ok(events::fragments(app, number, live, place(&headers, &at)))
}

/// Which entries of a gap are asked for: `at` is `first`, `last`, or the number of an entry.
#[derive(Debug, Deserialize)]
pub(super) struct Gap {
    first: usize,
    last: usize,
    at: String,
    /// The moment that is shown, if that is not the present.
    moment: Option<usize>,
}

/// Entries for a gap.
#[derive(Serialize)]
struct Entries {
    /// The epoch, and the number of the last change that is in them.
    place: String,
    html: String,
}

pub(super) async fn entries(
    State(app): State<Arc<App>>,
    Path(name): Path,
    Query(gap): Query<Gap>,
) -> Result<Response, Failed> {
    let wanted = match &*gap.at {
        "first" => Wanted::First,
        "last" => Wanted::Last,
        at => Wanted::Around(at.parse().unwrap_or(gap.first)),
    };
    let (number, live) = live(&app, name).await?;
    refresh(&app, number, &live).await;
    let made = blocking(&app, move |_| {
        let shown = live.shown(|_| gap.moment);
        let html = Window::at(&shown.snapshot, shown.moment).segment(gap.first, gap.last, wanted);
        Ok(Entries { place: shown.place.to_string(), html })
    });
    Ok(Json(made.await?).into_response())
}

#[derive(Debug, Deserialize)]
pub(super) struct Find {
    #[serde(deserialize_with = "filter::text")]
    q: String,
}

/// The entries in whose visible text these words are, in any case of letters.
pub(super) async fn find(
    State(app): State<Arc<App>>,
    Path(name): Path,
    Query(find): Query<Find>,
) -> Result<Json<Vec<EntryIdx>>, Failed> {
    let (_, live) = live(&app, name).await?;
    let found = patiently(&app, SEARCH, move |_, patience| {
        let shown = live.shown(|_| None);
        // The answer of a search that was stopped is not used.
        Ok(shown.snapshot.find(&find.q, || !patience.is_over()).collect())
    });
    Ok(Json(found.await?))
}

#[derive(Debug, Deserialize)]
pub(super) struct Explain {
    entry: usize,
}

/// The origin of an entry, to append to it.
pub(super) async fn explanation(
    State(app): State<Arc<App>>,
    Path(name): Path,
    Query(Explain { entry }): Query<Explain>,
) -> Result<Html<String>, Failed> {
    explained(&app, name, entry).await.map(Html)
}

async fn explained(app: &Arc<App>, name: String, entry: usize) -> Result<String, Failed> {
    let found = blocking(app, move |app| {
        let Some(source) = sessions::source(&*app.database()?, &name)? else { return Ok(None) };
        let causes = explain::explain(&app.program, &source, EntryIdx::new(entry))?;
        Ok(Some(page::explanation(entry, &causes).into_string()))
    });
    found.await?.ok_or_else(Failed::not_found)
}
