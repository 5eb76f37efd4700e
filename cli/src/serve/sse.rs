//! Server-sent events as bytes, which readers share.

use std::{convert::Infallible, future::Future, sync::Arc, task::Poll, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::header,
    response::{IntoResponse, Response},
};
use foldline_domain::store::{Sequenced, UpdateId};
use futures_util::{Stream, StreamExt, stream::poll_fn};
use serde::Serialize;
use tokio::time::{Instant, sleep};

/// The interval of keep-alive messages on a silent connection.
const SILENT: Duration = Duration::from_secs(15);

/// A keep-alive comment, which browsers ignore.
const ALIVE: Bytes = Bytes::from_static(b":\n\n");

/// The end of an event.
const END: Bytes = Bytes::from_static(b"\n\n");

/// An event that no reader continues from. The data is JSON, or a word: one line.
pub(super) fn event(name: &str, data: &str) -> Bytes {
    format!("event: {name}\ndata: {data}\n\n").into()
}

/// The same in parts, the data without a copy.
pub(super) fn shared(name: &str, data: Bytes) -> Vec<Bytes> {
    vec![format!("event: {name}\ndata: ").into(), data, END]
}

/// An event with its place in the stream.
pub(super) fn numbered(name: &str, id: &UpdateId, data: &str) -> Bytes {
    format!("{}{data}\n\n", head(name, id)).into()
}

/// The same in parts, the data without a copy.
pub(super) fn parts(name: &str, id: &UpdateId, data: Bytes) -> Vec<Bytes> {
    vec![head(name, id).into(), data, END]
}

fn head(name: &str, id: &UpdateId) -> String {
    format!("event: {name}\nid: {id}\ndata: ")
}

/// The JSON of a document or a patch, without a copy. It is made if this is the first reader.
pub(super) fn json<T: Serialize + Send + Sync + 'static>(shared: Arc<Sequenced<T>>) -> Bytes {
    struct Json<T>(Arc<Sequenced<T>>);
    impl<T: Serialize> AsRef<[u8]> for Json<T> {
        fn as_ref(&self) -> &[u8] {
            self.0.json().as_bytes()
        }
    }
    Bytes::from_owner(Json(shared))
}

/// The answer that is such a stream.
pub(super) fn answer(events: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let (mut events, mut silence) = (Box::pin(events), Box::pin(sleep(SILENT)));
    let stream = poll_fn(move |cx| {
        let mut next = events.as_mut().poll_next(cx);
        if next.is_pending() && silence.as_mut().poll(cx).is_ready() {
            next = Poll::Ready(Some(ALIVE));
        }
        if next.is_ready() {
            silence.as_mut().reset(Instant::now() + SILENT);
        }
        next
    });
    let body = Body::from_stream(stream.map(Ok::<_, Infallible>));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}
