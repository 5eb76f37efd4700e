//! [`Receiver`]: the machines that may send logs, and where these are stored.

use std::{collections::BTreeMap, fs, path::Path};

use axum::http::{HeaderMap, header};

use super::{mirror::ReceivedLogs, token::Token};
use crate::error::Error;

/// The machines that may send logs, and where these are stored.
pub(super) struct Receiver {
    machines: BTreeMap<String, Token>,
    pub(super) logs: ReceivedLogs,
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
                    let token = Token::of(token).map_err(|why| wrong(number, &why))?;
                    if known.insert(name.to_owned(), token).is_some() {
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
        let known = self.machines.iter().find(|(_, token)| token.is(stated));
        known.map(|(machine, _)| machine.as_str())
    }
}
