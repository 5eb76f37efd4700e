//! Logs of other machines: `GET` and `PUT /push/USER/PATH`, with the token of the machine.
//!
//! A sender asks what there is of a log, and sends what follows. See [`mirror`](super::mirror).

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use axum::{
    Json,
    body::Bytes,
    extract::{DefaultBodyLimit, Path as Address, Query, State},
    http::{HeaderMap, StatusCode, header},
    routing::{MethodRouter, get},
};
use tokio::task::spawn_blocking;

use super::{app::App, failed::Failed, mirror::ReceivedLogs, token::Token};
use crate::{
    error::Error,
    received::{ReceivedAt, ReceivedPart},
};

/// Below which logs are sent.
pub(super) const PUSH: &str = "/push/";

/// The most bytes of one request.
const LONGEST: usize = 8 << 20;

/// The shortest token, in characters.
const SHORTEST_TOKEN: usize = 16;

/// The machines that may send logs, and where these are stored.
pub(super) struct Receiver {
    machines: BTreeMap<String, Token>,
    logs: ReceivedLogs,
}

impl Receiver {
    /// Reads the file of machines: `NAME TOKEN` on each line, and comments that begin with `#`.
    pub(super) fn open(machines: &Path, db: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(machines)
            .map_err(|error| Error::Input { path: machines.to_owned(), error })?;
        let wrong = |number: usize, why: &str| {
            let at = format!("{}:{}", machines.display(), number + 1);
            Error::WrongUse(format!("{at}: {why}; a line is the name of a machine and its token"))
        };
        let mut known = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            let words: Vec<_> = line.split_whitespace().collect();
            match words[..] {
                [] => {}
                [first, ..] if first.starts_with('#') => {}
                [name, token] => {
                    let is_name =
                        |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
                    if !name.chars().all(is_name) || name.starts_with('.') {
                        return Err(wrong(
                            number,
                            "the name has other characters than A-Z 0-9 - _ .",
                        ));
                    }
                    if token.len() < SHORTEST_TOKEN {
                        let why = format!("the token has fewer than {SHORTEST_TOKEN} characters");
                        return Err(wrong(number, &why));
                    }
                    if known.insert(name.to_owned(), Token::of(token)).is_some() {
                        return Err(wrong(number, "the machine is named twice"));
                    }
                }
                _ => return Err(wrong(number, "there are not two words")),
            }
        }
        let logs = ReceivedLogs::beside(db).map_err(|error| Error::output(db, &error))?;
        Ok(Self { machines: known, logs })
    }

    /// The folder of the logs.
    pub(super) fn folder(&self) -> &Path {
        self.logs.folder()
    }

    /// The machine whose token a request has.
    pub(super) fn machine(&self, headers: &HeaderMap) -> Option<&str> {
        let stated = headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")?;
        // All are compared, so that the time tells nothing of the position.
        let mut known = self.machines.iter().filter(|(_, token)| token.is(stated));
        Some(known.next()?.0)
    }
}

pub(super) fn route() -> MethodRouter<Arc<App>> {
    get(part).put(add).layer(DefaultBodyLimit::max(LONGEST))
}

type Answer = Result<Json<ReceivedPart>, Failed>;

/// The machine of a request, and the path of the log.
fn sent_by(
    app: &App,
    headers: &HeaderMap,
    path: &str,
) -> Result<(Arc<Receiver>, String, Vec<String>), Failed> {
    let no = || Failed(StatusCode::UNAUTHORIZED, "No machine has this token.".to_owned());
    let receiver = app.receiver.as_ref().ok_or_else(no)?;
    let machine = receiver.machine(headers).ok_or_else(no)?.to_owned();
    Ok((Arc::clone(receiver), machine, path.split('/').map(str::to_owned).collect()))
}

/// What there is of a log.
async fn part(
    State(app): State<Arc<App>>,
    Address(path): Address<String>,
    headers: HeaderMap,
) -> Answer {
    let (receiver, machine, path) = sent_by(&app, &headers, &path)?;
    worked(move || receiver.logs.part(&machine, &path)).await?.ok_or_else(no_path).map(Json)
}

/// Adds bytes to a log; answers what there is of it then. If they do not continue it, the answer is a conflict.
async fn add(
    State(app): State<Arc<App>>,
    Address(path): Address<String>,
    Query(at): Query<ReceivedAt>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Answer {
    let (receiver, machine, path) = sent_by(&app, &headers, &path)?;
    worked(move || {
        let Some(before) = receiver.logs.part(&machine, &path)? else {
            return Ok(Err(no_path()));
        };
        let added = receiver.logs.add(&machine, &path, at, &bytes)?;
        Ok(match (added, receiver.logs.part(&machine, &path)?) {
            (Some(()), Some(now)) => Ok(Json(now)),
            _ => {
                let why = format!("There are {} bytes of this log.", before.whole.length);
                Err(Failed(StatusCode::CONFLICT, why))
            }
        })
    })
    .await?
}

fn no_path() -> Failed {
    Failed::not_understood("it is no path of a log")
}

/// Files are read and written on a thread that may wait for the disk.
async fn worked<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, Failed> {
    let failed = |why: String| Failed(StatusCode::INSUFFICIENT_STORAGE, why);
    match spawn_blocking(work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(failed(format!("It could not be stored: {error}."))),
        Err(_) => Err(failed("It could not be stored.".to_owned())),
    }
}
