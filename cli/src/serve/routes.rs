//! The routes of the server.

use std::{borrow::Cow, sync::Arc};

use axum::{
    Router,
    body::Bytes,
    http::{StatusCode, header},
    middleware,
    routing::get,
};
use foldline_render::html::SHEET;

#[cfg(feature = "mcp")]
use super::questions::questions;
use super::{
    api,
    app::App,
    failed::{Failed, worded},
    guard::{self, Guard},
    list, page, past, receive,
    schema::{SCHEMA, TYPES},
    session, usage,
};

/// The icon of a tab, in the colour of what runs. That of a page with something that waits has another colour.
const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\" fill=\"none\" stroke=\"#0b5cc9\" \
    stroke-width=\"1.75\" stroke-linejoin=\"round\"><path d=\"M2 4h9l3 4-3 4H2l3-4z\"/><path d=\"M5 8h9\"/></svg>";

pub(super) fn routes(app: Arc<App>, rules: Guard) -> Router {
    let text = |kind: &'static str, text: Cow<'static, str>| {
        let text = Bytes::from(text.into_owned());
        get(move || async move { ([(header::CONTENT_TYPE, kind)], text) })
    };
    let routes = Router::new();
    #[cfg(feature = "mcp")]
    let routes = routes.route(guard::QUESTIONS, questions(&app));
    routes
        .route("/", get(list::page))
        .route("/rows", get(list::rows))
        .route("/charts", get(list::charts))
        .route("/now", get(list::now_page))
        .route("/others", get(list::others))
        .route("/events", get(list::events))
        .route("/usage", get(usage::page))
        .route("/sessions/{name}", get(session::page))
        .route("/sessions/{name}/fragments", get(session::fragments))
        .route("/sessions/{name}/entries", get(session::entries))
        .route("/sessions/{name}/past", get(past::past))
        .route("/sessions/{name}/find", get(session::find))
        .route("/sessions/{name}/export", get(session::export))
        .route("/sessions/{name}/explain", get(session::explanation))
        .route("/api/sessions", get(api::sessions))
        .route("/api/sessions/{name}", get(api::session))
        .route("/api/sessions/{name}/patches", get(api::patches))
        .route("/api/schema.json", text("application/schema+json", SCHEMA.into()))
        .route("/api/types.d.ts", text("text/plain; charset=utf-8", TYPES.into()))
        .route("/metrics", get(api::metrics))
        .route("/push/{*path}", receive::route())
        .route("/foldline.css", text("text/css; charset=utf-8", SHEET.into()))
        .route("/icon.svg", text("image/svg+xml", ICON.into()))
        .route(
            "/icon-waiting.svg",
            text("image/svg+xml", ICON.replace("#0b5cc9", "#c27a00").into()),
        )
        .route("/page.js", text("text/javascript; charset=utf-8", page::script().into()))
        .fallback(|| async { Failed(StatusCode::NOT_FOUND, "There is no such page.".to_owned()) })
        .layer(middleware::from_fn_with_state(rules, guard::guard))
        .layer(middleware::from_fn(worded))
        .with_state(app)
}
