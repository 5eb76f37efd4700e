//! `foldline query`: the database itself.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use foldline_database::sqlite::{SqliteError, schema::SCHEMA};
use rusqlite::{Error as SqlError, limits::Limit, types::ValueRef};

use crate::{
    answer::{AskArgs, Asked, Kind, Listing, Value, answer},
    error::Error,
    exit,
    program::Program,
};

/// The options of `foldline query`.
#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    #[command(subcommand)]
    question: Question,

    #[command(flatten)]
    ask: AskArgs,
}

#[derive(Debug, Subcommand)]
enum Question {
    /// Run an SQL statement
    Sql {
        /// A read-only statement
        query: String,
    },
    /// Print the tables and columns as commented SQL
    Schema,
}

impl QueryArgs {
    /// Whether the answer is rows.
    pub(crate) fn has_rows(&self) -> bool {
        matches!(self.question, Question::Sql { .. })
    }
}

/// `foldline query`.
pub(crate) fn run(program: &Program, args: &QueryArgs) -> Result<u8, Error> {
    match &args.question {
        Question::Schema => {
            io::stdout().lock().write_all(SCHEMA.as_bytes()).map_err(Error::Output)?;
            Ok(exit::SUCCESS)
        }
        Question::Sql { query } => {
            args.ask.filters.refuse("a query says for itself what it asks for")?;
            answer(program, &args.ask, |asked| -> Result<Listing, Error> { sql(asked, query) })
        }
    }
}

/// Runs one read-only statement.
fn sql(asked: &Asked<'_>, query: &str) -> Result<Listing, Error> {
    asked.database.check_search_index()?;
    let Some(database) = asked.database.file() else {
        return Err(Error::WrongUse(
            "query sql reads database files only; psql queries a PostgreSQL database".to_owned(),
        ));
    };
    let connection = database.connection();
    let wrong = |message: String| Error::Database(SqliteError::Query(message));
    // Attached databases are disabled, so other files cannot be written either.
    connection
        .set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)
        .map_err(|error| database.error(&error))?;
    let answer = connection.prepare(query).and_then(|mut statement| {
        if !statement.readonly() {
            return Ok(Err("the statement would write; only reading is possible"));
        }
        if statement.column_count() == 0 {
            return Ok(Err("there is nothing in it that has an answer, such as a SELECT"));
        }
        let names = statement.column_names();
        let mut listing = Listing::new(&names.map(|name| (name, Kind::Text)).collect::<Vec<_>>());
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let values = (0..columns).map(|column| row.get_ref(column).map(Value::from));
            listing.rows.push(values.collect::<Result<_, _>>()?);
        }
        Ok(Ok(listing.verbatim()))
    });
    match answer {
        Ok(answer) => answer.map_err(|why| wrong(why.to_owned())),
        Err(SqlError::MultipleStatement) => Err(wrong("give one statement only".to_owned())),
        Err(error) => match database.error(&error) {
            SqliteError::Other { message, .. } => Err(wrong(message)),
            error => Err(Error::Database(error)),
        },
    }
}

impl From<ValueRef<'_>> for Value {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(text) => Self::Text(String::from_utf8_lossy(text).into_owned()),
            ValueRef::Blob(bytes) => {
                Self::Text(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
            }
        }
    }
}
