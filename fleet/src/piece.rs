//! [`Piece`]: a piece of a log, as a message of the logs topic; [`Place`]: its position.
//!
//! The key is the name of the source, the value is bytes of the log: one line with its line end, or a part of a line
//! that exceeds the size of a message. Headers state the position of the bytes, so that duplicate and missing pieces
//! are detected.

use std::{fmt, str::FromStr};

use foldline::ledger::SourceName;
use foldline_domain::Position;
use rdkafka::{
    Message,
    message::{Header, Headers, OwnedHeaders},
};
use serde::{Deserialize, Serialize};

/// A piece of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    /// The log.
    pub(crate) source: SourceName,
    /// The position of the first byte.
    pub(crate) place: Place,
    /// The name of its format.
    pub(crate) format: &'a str,
    /// The path of its file when it was shipped.
    pub(crate) path: &'a str,
    /// The machine.
    pub(crate) host: &'a str,
    /// The user whose file it is there, if the machine knows it.
    pub(crate) user: Option<&'a str>,
    /// The task of its sessions, if specified.
    pub(crate) task: Option<&'a str>,
    /// At the beginning of a further file: how much of the previous file was shipped. Otherwise, bytes missing at the
    /// end of that file could not be detected.
    pub(crate) before: Option<u64>,
    /// At the beginning of the log: when its file was created, in milliseconds since 1970, if the machine knows it.
    pub(crate) created: Option<i64>,
    /// The log is complete: held data is released. The piece has no bytes then.
    pub(crate) is_end: bool,
    /// The bytes, exactly as in the log.
    pub(crate) bytes: &'a [u8],
}

impl<'a> Piece<'a> {
    /// A piece without bytes, headers and a format.
    pub(crate) fn empty(source: SourceName) -> Self {
        let place = Place::default();
        let (format, path, host, user, task, before, created) =
            ("", "", "", None, None, None, None);
        let (is_end, bytes) = (false, &[][..]);
        Self { source, place, format, path, host, user, task, before, created, is_end, bytes }
    }

    /// The headers of the message.
    pub(crate) fn headers(&self) -> OwnedHeaders {
        let header = |key, value: &str| (key, value.to_owned());
        let mut all = vec![
            header("position", &self.place.to_string()),
            header("format", self.format),
            header("path", self.path),
            header("host", self.host),
        ];
        all.extend(self.user.map(|user| header("user", user)));
        all.extend(self.task.map(|task| header("task", task)));
        all.extend(self.before.map(|before| header("before", &before.to_string())));
        all.extend(self.created.map(|created| header("created", &created.to_string())));
        all.extend(self.is_end.then(|| header("end", "1")));
        all.iter().fold(OwnedHeaders::new(), |headers, (key, value)| {
            headers.insert(Header { key, value: Some(value) })
        })
    }

    /// Reads a message; `None` if it is not a piece of a log.
    pub(crate) fn read<M: Message>(message: &'a M) -> Option<Self> {
        let headers = message.headers()?;
        let all: Vec<_> = headers.iter().map(|header| (header.key, header.value)).collect();
        let header = |name: &str| {
            let (_, value) = all.iter().find(|(key, _)| *key == name)?;
            std::str::from_utf8((*value)?).ok()
        };
        Some(Self {
            source: SourceName::from(std::str::from_utf8(message.key()?).ok()?),
            place: header("position")?.parse().ok()?,
            format: header("format")?,
            path: header("path").unwrap_or_default(),
            host: header("host").unwrap_or_default(),
            user: header("user"),
            task: header("task"),
            before: header("before").and_then(|before| before.parse().ok()),
            created: header("created").and_then(|created| created.parse().ok()),
            is_end: header("end").is_some(),
            bytes: message.payload().unwrap_or_default(),
        })
    }
}

/// The value of the first header with this name.
pub(crate) fn text<'a>(headers: &'a impl Headers, name: &str) -> Option<&'a str> {
    let header = headers.iter().find(|header| header.key == name)?;
    std::str::from_utf8(header.value?).ok()
}

/// A position in a log that is followed: after a rotation it continues in another file, and offsets restart.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub(crate) struct Place {
    /// The number of earlier files of the log.
    pub(crate) file: u64,
    /// The offset in that file, in bytes from 0.
    pub(crate) offset: u64,
}

impl Place {
    /// The place `length` bytes further in the same file.
    pub(crate) fn after(self, length: usize) -> Self {
        Self { offset: self.offset + length as u64, ..self }
    }
}

/// As in messages: `FILE:OFFSET`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.offset)
    }
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (file, offset) = text.split_once(':').ok_or(())?;
        Ok(Self { file: file.parse().map_err(drop)?, offset: offset.parse().map_err(drop)? })
    }
}

/// Combines the number of the file and the position in it.
impl From<(u64, Position)> for Place {
    fn from((file, position): (u64, Position)) -> Self {
        Self { file, offset: position.offset }
    }
}

#[cfg(test)]
mod tests {
    use rdkafka::{Timestamp, message::OwnedMessage};

    use super::*;

    #[test]
    fn a_piece_is_read_as_it_was_written() {
        let piece = Piece {
            source: "host/1-2-ab".into(),
            place: Place { file: 1, offset: 7 },
            format: "droid",
            path: "/home/é/log.jsonl",
            host: "host",
            user: Some("ada"),
            task: Some("a task"),
            before: Some(70),
            created: Some(1_760_000_000_000),
            is_end: false,
            bytes: b"{}\n",
        };
        for piece in [
            piece.clone(),
            Piece { task: None, before: None, created: None, is_end: true, bytes: b"", ..piece },
        ] {
            let message = OwnedMessage::new(
                Some(piece.bytes.to_owned()),
                Some(piece.source.as_str().into()),
                "foldline.logs".to_owned(),
                Timestamp::NotAvailable,
                0,
                0,
                Some(piece.headers()),
            );
            assert_eq!(Piece::read(&message), Some(piece));
        }
    }

    #[test]
    fn a_message_of_somebody_else_is_no_piece() {
        let (key, topic) = (Some(b"key".to_vec()), "foldline.logs".to_owned());
        let message = OwnedMessage::new(None, key, topic, Timestamp::NotAvailable, 0, 0, None);
        assert_eq!(Piece::read(&message), None);
    }

    #[test]
    fn places_are_in_the_order_of_the_log() {
        let place = |text: &str| text.parse::<Place>().unwrap();
        assert!(place("0:100") < place("1:0") && place("1:9") < place("1:10"));
        assert_eq!(place("3:17").to_string(), "3:17");
        assert_eq!(place("3:17").after(3), place("3:20"));
        for wrong in ["", "1", "1:", ":1", "1:-1", "a:1"] {
            assert_eq!(wrong.parse::<Place>(), Err(()), "{wrong}");
        }
    }
}
