//! The pictures of a session.

use std::sync::Arc;

use axum::{
    http::{HeaderName, StatusCode, header},
    response::{IntoResponse, Response},
};
use base64::{Engine, prelude::BASE64_STANDARD};

use super::{app::App, failed::Failed, request::live};

/// A picture by the index of its entry and its number in it: `12.0`. A picture never changes.
pub(super) async fn response(
    app: &Arc<App>,
    session: String,
    picture: &str,
) -> Result<Response, Failed> {
    let none = || Failed(StatusCode::NOT_FOUND, "There is no such picture.".to_owned());
    let number = |text: &str| text.parse::<usize>().ok();
    let (entry, picture) = picture.split_once('.').ok_or_else(none)?;
    let (entry, picture) = number(entry).zip(number(picture)).ok_or_else(none)?;
    let (_, live) = live(app, session).await?;
    let document = live.store.snapshot();
    let metadata = document.entries.get(entry).and_then(|entry| entry.metadata.as_ref());
    let image = metadata.and_then(|metadata| metadata.images.get(picture)).ok_or_else(none)?;
    let data = image.data.as_ref().ok_or_else(none)?;
    let bytes = BASE64_STANDARD.decode(&*data.decode()).map_err(|_| none())?;
    let headers: [(HeaderName, String); 2] = [
        (header::CONTENT_TYPE, image.media_type.decode().into_owned()),
        (header::CACHE_CONTROL, "private, max-age=86400".to_owned()),
    ];
    Ok((headers, bytes).into_response())
}
