//! The server over standard input and output.

use std::{
    env,
    io::{self, IsTerminal},
    sync::Arc,
    time::Duration,
};

use jiff::tz::TimeZone;
use rmcp::{ServiceExt, service::ServerInitializeError, transport};
use tokio::{runtime::Builder, sync::Semaphore};

use super::{
    answers::{Answers, IsUnwanted},
    args::McpArgs,
    frames::Frames,
    project::Project,
    server::McpServer,
};
use crate::{error::Error, exit, program::Program, recipe, say::say};

/// The time for one answer.
const LONGEST: Duration = Duration::from_secs(60);

/// Threads that may wait for standard input or for the disk.
const THREADS: usize = 4;

/// `foldline mcp`.
pub(crate) fn run(program: &Program, args: &McpArgs) -> Result<u8, Error> {
    if args.print_config.is_some() {
        return print_config(args);
    }
    let folder = env::current_dir().map_err(|error| Error::Input { path: ".".into(), error })?;
    if io::stdin().is_terminal() {
        say(
            "waiting for a client on standard input; foldline mcp --print-config CLIENT shows how to add it",
        );
    }
    let (database, opening) = (args.database.clone(), program.clone());
    let open = move |is_unwanted: IsUnwanted| {
        let mut opened = database.open(&opening)?;
        opened.stop_when(LONGEST, is_unwanted)?;
        Ok(opened)
    };
    let answers = Answers {
        program: program.clone(),
        open: Box::new(open),
        prices: Arc::new(args.prices.load()?.into_owned()),
        zone: args.timezone.clone().unwrap_or_else(TimeZone::system),
        redacts: args.redact,
        // Each answer refreshes the index first.
        turns: Arc::new(Semaphore::new(1)),
    };
    let server = McpServer::new(Arc::new(answers), Project::near(folder));
    let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(THREADS).build();
    let runtime = runtime.map_err(Error::Output)?;
    let served = runtime.block_on(async {
        let running = server
            .serve(Frames::new(transport::stdio()))
            .await
            .map_err(|error| not_begun(&error))?;
        running.waiting().await.map_err(|error| Error::Output(io::Error::other(error)))
    });
    // A thread may still wait for standard input.
    runtime.shutdown_background();
    served.map(|_| exit::SUCCESS)
}

fn not_begun(error: &ServerInitializeError) -> Error {
    Error::WrongUse(format!(
        "the client did not begin as the Model Context Protocol states: {error}; foldline mcp --print-config CLIENT \
         shows how to add it"
    ))
}

/// Prints the configuration of a client on standard output, and where it belongs on standard error.
fn print_config(args: &McpArgs) -> Result<u8, Error> {
    let Some(client) = args.print_config else { return Ok(exit::SUCCESS) };
    let mut arguments = vec!["mcp".to_owned()];
    if args.redact {
        arguments.push("--redact".to_owned());
    }
    arguments.extend(recipe::database(args.database.named())?);
    recipe::print(&client.config(&recipe::this_program()?, &arguments), client.place())
}
