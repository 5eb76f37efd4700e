//! [`Failed`]: the reason for a refused request, in the form that its client reads.

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use serde_json::json;

use super::page;
use crate::error::Error;

/// The reason for a refused or failed request: a sentence for people.
#[derive(Clone, Debug)]
pub(super) struct Failed(pub(super) StatusCode, pub(super) String);

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

impl Failed {
    pub(super) fn not_found() -> Self {
        Self(StatusCode::NOT_FOUND, "There is no such session.".to_owned())
    }

    pub(super) fn unreadable() -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR, "It could not be read.".to_owned())
    }

    /// The address has a part that means nothing here.
    pub(super) fn not_understood(why: &str) -> Self {
        Self(StatusCode::BAD_REQUEST, format!("This address is not understood: {why}."))
    }

    /// The answer was not complete in time, and a part of it would look like the whole.
    pub(super) fn too_slow() -> Self {
        let why = "This took too long, and was stopped. Fewer or longer words are found faster.";
        Self(StatusCode::SERVICE_UNAVAILABLE, why.to_owned())
    }
}

/// The reason as text, and as an extension for [`worded`].
impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        let mut response = (self.0, format!("{}\n", self.1)).into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Words a refusal for its client: as JSON for a program, as a page for a browser, and as text for all others.
pub(super) async fn worded(request: Request, next: Next) -> Response {
    let is_api = request.uri().path().starts_with("/api/");
    let is_page = is_browser(request.headers());
    let mut response = next.run(request).await;
    let Some(Failed(status, why)) = response.extensions_mut().remove::<Failed>() else {
        return response;
    };
    let (kind, body) = match (is_api, is_page) {
        (true, _) => ("application/json", format!("{}\n", json!({ "error": why }))),
        (false, true) => {
            let page = match status {
                StatusCode::UNAUTHORIZED => page::locked(&why),
                _ => page::failure(status.canonical_reason().unwrap_or("Failed"), &why),
            };
            ("text/html; charset=utf-8", page)
        }
        (false, false) => return response,
    };
    *response.body_mut() = Body::from(body);
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Whether the client shows pages: scripts and programs accept anything, and do not name HTML.
fn is_browser(headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(header::ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
    accepts.into_iter().any(|accept| accept.contains("text/html"))
}
