//! `foldline query`: the database itself.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use foldline::emitters::sqlite::schema::SCHEMA;

use super::{AskArgs, answer, listing::Listing, sql};
use crate::{error::Error, exit, options::EXIT_CODES, program::Program};

/// The options of `foldline query`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct QueryArgs {
    #[command(subcommand)]
    question: Question,

    #[command(flatten)]
    ask: AskArgs,
}

#[derive(Debug, Subcommand)]
enum Question {
    /// The answer to a query of your own
    Sql {
        /// A statement that only reads
        query: String,
    },
    /// The tables and their columns, as SQL with comments
    Schema,
}

/// `foldline query`.
pub(crate) fn run(program: &Program, args: &QueryArgs) -> Result<u8, Error> {
    match &args.question {
        Question::Schema => {
            io::stdout().lock().write_all(SCHEMA.as_bytes()).map_err(Error::Output)?;
            Ok(exit::FINE)
        }
        Question::Sql { query } => {
            args.ask.filters.refuse("a query says for itself what it asks for")?;
            answer(program, &args.ask, |asked| -> Result<Listing, Error> { sql::sql(asked, query) })
        }
    }
}
