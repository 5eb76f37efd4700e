//! [`Answers`]: answers questions from the database, on threads that may wait for the disk.

use std::{sync::Arc, time::Duration};

use foldline_domain::pricing::Prices;
use jiff::tz::TimeZone;
use tokio::{
    sync::{Semaphore, oneshot},
    task::spawn_blocking,
    time::timeout,
};

use super::{
    arguments::{LEAST_TOKENS, Object},
    call::Call,
    page::Page,
    quote::{message, quoted},
    tokens::Tokens,
};
use crate::{answer::Opened, error::Error, program::Program};

/// The time that a question waits for those before it. The first one may read all logs.
const PATIENCE: Duration = Duration::from_secs(45);

const BUSY: &str = "The logs are still being read, or other questions are being answered. Ask again in a minute.\n";
const FAILED: &str = "The question cannot be answered:\n";

/// Whether an answer is not wanted any more.
pub(crate) type IsUnwanted = Box<dyn FnMut() -> bool + Send>;

/// Opens the database for one answer.
pub(crate) type Open = Box<dyn Fn(IsUnwanted) -> Result<Opened, Error> + Send + Sync>;

/// Answers questions from a database.
pub(crate) struct Answers {
    pub(crate) program: Program,
    pub(crate) open: Open,
    pub(crate) prices: Arc<Prices>,
    pub(crate) zone: TimeZone,
    /// Whether secrets are always replaced.
    pub(crate) redacts: bool,
    /// The number of questions that are answered at the same time.
    pub(crate) turns: Arc<Semaphore>,
}

/// A question: the tool and its arguments, and the folders of the caller's project.
pub(crate) struct ToolRequest {
    pub(crate) tool: String,
    pub(crate) arguments: Object,
    pub(crate) folders: Vec<String>,
}

impl Answers {
    /// The answer of `work`, or the text of its error.
    pub(crate) async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        asked: ToolRequest,
        is_unwanted: IsUnwanted,
        work: impl FnOnce(&Call<'_>, &ToolRequest) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, String> {
        let turn = timeout(PATIENCE, Arc::clone(&self.turns).acquire_owned()).await;
        let turn = turn.ok().and_then(Result::ok).ok_or_else(|| BUSY.to_owned())?;
        let answers = Arc::clone(self);
        let (answer, answered) = oneshot::channel();
        // The box lets the generic code of `tokio` be compiled once.
        let work: Box<dyn FnOnce() + Send> = Box::new(move || {
            let done = answers.answer(&asked, is_unwanted, work);
            // A client that has gone misses nothing.
            let _ = answer.send(done);
            drop(turn);
        });
        spawn_blocking(work);
        // The thread has panicked, which was reported.
        answered.await.unwrap_or_else(|_| Err("The question could not be answered.\n".to_owned()))
    }

    fn answer<T>(
        &self,
        asked: &ToolRequest,
        is_unwanted: IsUnwanted,
        work: impl FnOnce(&Call<'_>, &ToolRequest) -> Result<T, Error>,
    ) -> Result<T, String> {
        let database = (self.open)(is_unwanted)
            .map_err(|error| refused(Tokens::new(LEAST_TOKENS), &error.to_string()))?;
        let (defaults, question) = ((&self.prices, &self.zone), (&*asked.tool, &asked.arguments));
        let call =
            Call::new(&self.program, &database, defaults, &asked.folders, question, self.redacts);
        let answer = database
            .estimate_with(Arc::clone(&self.prices))
            .map_err(Error::from)
            .and_then(|()| work(&call, asked))
            .and_then(|answer| database.confirm().map(|()| answer));
        answer.map_err(|error| failed(&call, &error))
    }
}

fn failed(call: &Call<'_>, error: &Error) -> String {
    refused(call.budget(), &call.text(&error.to_string()))
}

/// The text of an error, which may cite logs: it is data as well.
fn refused(budget: Tokens, error: &str) -> String {
    Page::beginning(budget, FAILED).finish(&quoted(&message(error)))
}
