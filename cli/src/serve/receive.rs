//! Logs of other machines: `GET` and `PUT /push/USER/PATH`, with the token of the machine.
//!
//! A sender asks what there is of a log, and sends what follows. See [`mirror`](super::mirror).

use std::{io, sync::Arc};

use axum::{
    Json,
    body::Bytes,
    extract::{DefaultBodyLimit, Path, Query, State},
    http::{HeaderMap, StatusCode},
    routing::{MethodRouter, get},
};
use foldline::ledger::Extent;
use tokio::task::spawn_blocking;

use super::{app::App, failed::Failed, receiver::Receiver};
use crate::received::ReceivedAt;

/// Below which logs are sent.
pub(super) const PUSH: &str = "/push/";

/// The most bytes of one request.
const LONGEST: usize = 8 << 20;

pub(super) fn route() -> MethodRouter<Arc<App>> {
    get(part).put(add).layer(DefaultBodyLimit::max(LONGEST))
}

type Answer = Result<Json<Extent>, Failed>;

/// The machine of a request, and the path of the log.
fn sent_by(
    app: &App,
    headers: &HeaderMap,
    path: &str,
) -> Result<(Arc<Receiver>, String, Vec<String>), Failed> {
    let none = || Failed(StatusCode::NOT_FOUND, "This server receives no logs.".to_owned());
    let unknown = || Failed(StatusCode::UNAUTHORIZED, "No machine has this token.".to_owned());
    let receiver = app.receiver.as_ref().ok_or_else(none)?;
    let machine = receiver.machine(headers).ok_or_else(unknown)?.to_owned();
    Ok((Arc::clone(receiver), machine, path.split('/').map(str::to_owned).collect()))
}

/// What there is of a log, from its beginning.
async fn part(State(app): State<Arc<App>>, Path(path): Path<String>, headers: HeaderMap) -> Answer {
    let (receiver, machine, path) = sent_by(&app, &headers, &path)?;
    worked(move || receiver.logs.part(&machine, &path)).await?.ok_or_else(no_path).map(Json)
}

/// Adds bytes to a log; answers what there is of it then. If they do not continue it, the answer is a conflict.
async fn add(
    State(app): State<Arc<App>>,
    Path(path): Path<String>,
    Query(at): Query<ReceivedAt>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Answer {
    let (receiver, machine, path) = sent_by(&app, &headers, &path)?;
    worked(move || {
        let added = receiver.logs.add(&machine, &path, at, &bytes)?;
        let Some(now) = receiver.logs.part(&machine, &path)? else { return Ok(Err(no_path())) };
        Ok(added.map(|()| Json(now)).ok_or_else(|| {
            let why = format!("There are {} bytes of this log.", now.length);
            Failed(StatusCode::CONFLICT, why)
        }))
    })
    .await?
}

fn no_path() -> Failed {
    Failed::not_understood("it is no path of a log")
}

/// Files are read and written on a thread that may wait for the disk. A full disk concerns all logs; any other error only
/// the one that is sent.
async fn worked<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, Failed> {
    match spawn_blocking(work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => {
            let status = match error.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    StatusCode::INSUFFICIENT_STORAGE
                }
                _ => StatusCode::UNPROCESSABLE_ENTITY,
            };
            Err(Failed(status, format!("It could not be stored: {error}.")))
        }
        Err(_) => Err(Failed(StatusCode::INTERNAL_SERVER_ERROR, "It failed.".to_owned())),
    }
}
