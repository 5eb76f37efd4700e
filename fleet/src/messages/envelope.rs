//! [`Sender`] and [`Received`]: an event or a patch, with the fields that identify it.

use std::{borrow::Cow, sync::Arc};

use foldline_domain::{Position, SessionKey};
use serde::{Deserialize, Serialize};

use super::{SOURCE, UnreadableMessage, VERSION, ensure_version, text_part::TextPart};
use crate::ledger::Message;

/// The maximum length of a value in bytes: brokers accept messages of a mebibyte by default.
const MOST: usize = 900 << 10;

/// The fields that identify an event or a patch: `source` and `sequence` are a key.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Envelope<'a> {
    /// The version of this message.
    pub(super) version: u32,
    /// The source: the name of a log in this fleet.
    pub(super) source: &'a str,
    /// The machine of the log.
    pub(super) host: &'a str,
    /// The id of the session, once the log has stated it.
    pub(super) session: Option<&'a str>,
    /// The number of the session within the source, from 0: it is known before the id.
    #[cfg_attr(test, schemars(with = "u32"))]
    pub(super) session_number: SessionKey,
    /// Of an event, its number within the source; of a patch, its number within the session. From 1, without gaps.
    pub(super) sequence: u64,
    /// The position of the record of the log that caused it. Positions restart when a log continues in another file.
    #[cfg_attr(test, schemars(with = "super::position_schema::PositionSchema"))]
    pub(super) position: Position,
}

/// A value: the envelope, and the fields of the item next to it.
#[derive(Serialize)]
struct Enclosed<'a, T> {
    #[serde(flatten)]
    envelope: Envelope<'a>,
    #[serde(flatten)]
    item: &'a T,
}

/// Makes messages of the items of one source.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) source: Arc<str>,
    pub(crate) host: Arc<str>,
    pub(crate) partition: i32,
}

impl Sender {
    /// Passes the messages that carry an item to `each`: several if it exceeds the size of a message.
    pub(crate) fn enclose<T: Serialize>(
        &self,
        topic: &Arc<str>,
        (session_number, session): (SessionKey, Option<&str>),
        (sequence, position): (u64, Position),
        item: &T,
        mut each: impl FnMut(Message),
    ) -> Result<(), foldline_json::Error> {
        let envelope = Envelope {
            version: VERSION,
            source: &self.source,
            host: &self.host,
            session,
            session_number,
            sequence,
            position,
        };
        let key = session.unwrap_or(&self.source);
        let value = encoded(envelope, item)?;
        if value.len() <= MOST {
            each(self.message(topic, key, value));
            return Ok(());
        }
        let mut text = Vec::new();
        foldline_json::append(&mut text, item)?;
        for part in TextPart::all(&String::from_utf8_lossy(&text)) {
            each(self.message(topic, key, encoded(envelope, &part)?));
        }
        Ok(())
    }

    /// A message with this value.
    pub(crate) fn message(&self, topic: &Arc<str>, key: &str, value: Vec<u8>) -> Message {
        Message {
            topic: topic.clone(),
            partition: Some(self.partition),
            key: key.as_bytes().to_owned(),
            value: Some(value),
            headers: vec![(SOURCE, self.source.clone())],
        }
    }
}

fn encoded<T: Serialize>(
    envelope: Envelope<'_>,
    item: &T,
) -> Result<Vec<u8>, foldline_json::Error> {
    let mut value = Vec::new();
    foldline_json::append(&mut value, &Enclosed { envelope, item })?;
    Ok(value)
}

/// The fields of a received event; the fields of the item are read separately.
#[derive(Debug, Deserialize)]
pub(crate) struct Received<'a> {
    version: u32,
    #[serde(borrow)]
    pub(crate) session: Option<Cow<'a, str>>,
    pub(crate) session_number: SessionKey,
    pub(crate) sequence: u64,
    pub(crate) position: Position,
    /// The number of the part, the number of parts and the text, if the item is in parts.
    part: Option<usize>,
    parts: Option<usize>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
}

impl<'a> Received<'a> {
    /// Reads a value.
    pub(crate) fn read(value: &'a [u8]) -> Result<Self, UnreadableMessage> {
        let received: Self = serde_json::from_slice(value)?;
        ensure_version(received.version)?;
        Ok(received)
    }

    /// The part of the item, if the message does not have the whole item.
    pub(super) fn part(&self) -> Option<TextPart<'_>> {
        let text = self.text.as_deref()?;
        Some(TextPart { part: self.part?, parts: self.parts?, text: text.into() })
    }
}
