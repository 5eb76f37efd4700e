//! What to paste into the configuration of another program, so that it starts this one.

use std::{
    env,
    io::{self, Write},
    path::Path,
};

use crate::{error::Error, exit, place::DatabasePlace, say::say};

/// The path of this program.
pub(crate) fn this_program() -> Result<String, Error> {
    let program =
        env::current_exe().map_err(|error| Error::Input { path: "foldline".into(), error })?;
    let text = program.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        Error::WrongUse(format!("the path of this program is not text: {}", program.display()))
    })
}

/// The options for a database as it was named on the command line, for a program that is started in another folder.
pub(crate) fn database(named: Option<&Path>) -> Result<Vec<String>, Error> {
    let Some(named) = named else { return Ok(Vec::new()) };
    let place = match DatabasePlace::of(named.as_os_str().to_owned()) {
        DatabasePlace::Server(_) => named.to_owned(),
        DatabasePlace::File(path) => {
            std::path::absolute(&path).map_err(|error| Error::Input { path, error })?
        }
    };
    let text = place.to_str().map(str::to_owned);
    let text =
        text.ok_or_else(|| Error::WrongUse(format!("the path {} is not text", place.display())))?;
    Ok(vec!["--db".to_owned(), text])
}

/// Prints it on standard output, and where it belongs on standard error.
pub(crate) fn print(recipe: &str, place: &str) -> Result<u8, Error> {
    say(place);
    let mut out = io::stdout();
    out.write_all(recipe.as_bytes()).and_then(|()| out.flush()).map_err(Error::Output)?;
    Ok(exit::SUCCESS)
}

/// A command line of a shell.
pub(crate) fn command_line(program: &str, arguments: &[String]) -> String {
    let words = [program].into_iter().chain(arguments.iter().map(String::as_str));
    words.map(shell_word).collect::<Vec<_>>().join(" ")
}

/// A word of a shell's command line.
fn shell_word(word: &str) -> String {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | ':' | '@');
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
