//! Server-sent events as bytes, which readers share.

use std::convert::Infallible;

use axum::{
    body::{Body, Bytes},
    http::header,
    response::{IntoResponse, Response},
};
use futures_util::Stream;

/// What a browser does not see: that the connection is there.
pub(super) const ALIVE: Bytes = Bytes::from_static(b":\n\n");

/// What an event ends with.
pub(super) const END: Bytes = Bytes::from_static(b"\n\n");

/// An event that nobody goes on from. The data is JSON, or a word: one line.
pub(super) fn event(name: &str, data: &str) -> Bytes {
    format!("event: {name}\ndata: {data}\n\n").into()
}

/// An event with its place in the stream.
pub(super) fn numbered(name: &str, epoch: &str, number: u64, data: &str) -> Bytes {
    format!("{}{data}\n\n", head(name, epoch, number)).into()
}

/// How an event begins, up to its data.
pub(super) fn head(name: &str, epoch: &str, number: u64) -> String {
    format!("event: {name}\nid: {epoch}:{number}\ndata: ")
}

/// The answer that is such a stream.
pub(super) fn answer(stream: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let body = Body::from_stream(futures_util::StreamExt::map(stream, Ok::<_, Infallible>));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}
