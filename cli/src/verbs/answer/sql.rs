//! A query of the user.

use rusqlite::{Error as SqlError, limits::Limit};

use super::{
    Asked,
    listing::{Kind, Listing},
};
use crate::error::Error;
use foldline::emitters::sqlite::SqliteError;

/// Runs one read-only statement.
pub(super) fn sql(asked: &Asked<'_>, query: &str) -> Result<Listing, Error> {
    let connection = asked.database.connection();
    let wrong = |message: String| Error::Database(SqliteError::Query(message));
    // Without attached databases, nothing can be written to another file either.
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0).map_err(|error| asked.failed(&error))?;
    let answer = connection.prepare(query).and_then(|statement| {
        if !statement.readonly() {
            return Ok(Err("the statement would write; only reading is possible"));
        }
        if statement.column_count() == 0 {
            return Ok(Err("there is nothing in it that has an answer, such as a SELECT"));
        }
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let columns: Vec<_> = names.iter().map(|name| (name.as_str(), Kind::Text)).collect();
        Listing::select(connection, &columns, query, []).map(Ok)
    });
    match answer {
        Ok(answer) => answer.map_err(|why| wrong(why.to_owned())),
        Err(SqlError::MultipleStatement) => Err(wrong("give one statement only".to_owned())),
        Err(error) => match asked.database.error(&error) {
            SqliteError::Other { message, .. } => Err(wrong(message)),
            error => Err(Error::Database(error)),
        },
    }
}
