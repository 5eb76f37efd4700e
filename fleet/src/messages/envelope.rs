//! An event or a patch as messages: [`Sender`] and [`Received`], and [`TextPart`]s of a long one.

use std::{borrow::Cow, sync::Arc};

use foldline_domain::{Position, SessionKey};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{SOURCE, UnreadableMessage, VERSION, ensure_version};
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
    #[cfg_attr(test, schemars(with = "super::renew::PositionSchema"))]
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

/// The maximum length of a part in bytes: as a JSON string, with its quotes escaped, it is at most twice as long.
const MOST_PART: usize = 440 << 10;

/// A part of an item: the texts of all parts, joined in their order, are the JSON of the item.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct TextPart<'a> {
    /// The number of the part, from 1.
    pub(super) part: usize,
    /// The number of parts.
    pub(super) parts: usize,
    /// A piece of the JSON of the item, which has the fields that this message lacks.
    #[serde(borrow)]
    pub(super) text: Cow<'a, str>,
}

impl<'a> TextPart<'a> {
    /// The parts of a text.
    pub(super) fn all(text: &'a str) -> Vec<Self> {
        let (mut pieces, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let most = MOST_PART.min(rest.len());
            let end = (0..=most).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or(most);
            let (piece, after) = rest.split_at(end);
            pieces.push(piece);
            rest = after;
        }
        let parts = pieces.len();
        let part =
            |(index, text): (usize, &'a str)| Self { part: index + 1, parts, text: text.into() };
        pieces.into_iter().enumerate().map(part).collect()
    }
}

/// Joins the parts of an event. Parts of one source are consecutive, because a transaction is committed as a whole.
#[derive(Debug, Default)]
pub(crate) struct Joiner {
    text: String,
}

impl Joiner {
    /// Adds a value. Returns the item once it is complete.
    pub(crate) fn push<T: DeserializeOwned>(
        &mut self,
        value: &[u8],
        received: &Received<'_>,
    ) -> Result<Option<T>, UnreadableMessage> {
        let Some(part) = received.part() else { return Ok(Some(serde_json::from_slice(value)?)) };
        if part.part == 1 {
            self.text.clear();
        }
        self.text.push_str(&part.text);
        if part.part < part.parts {
            return Ok(None);
        }
        Ok(Some(serde_json::from_str(&std::mem::take(&mut self.text))?))
    }
}

#[cfg(test)]
mod tests {
    use foldline_domain::{Position, SessionKey};
    use serde_json::{Value, json};

    use super::*;
    use crate::messages::envelope::Sender;

    #[test]
    fn an_item_that_is_too_long_for_a_message_is_joined_again() {
        let sender = Sender { source: "s".into(), host: "h".into(), partition: 1 };
        for length in [0, 1 << 10, 700 << 10, 3 << 20] {
            let text: String = (0..length).map(|n| ['"', 'é', '\u{1f980}', 'x'][n % 4]).collect();
            let item = json!({ "event": "e", "data": text });
            let (mut joiner, mut joined) = (Joiner::default(), Vec::<Value>::new());
            let (session, at) = ((SessionKey(0), None), (7, Position::default()));
            let received = |message: crate::ledger::Message| {
                let value = message.value.unwrap();
                assert!(value.len() <= 1_000_000 && message.key == b"s");
                let document: Value = serde_json::from_slice(&value).unwrap();
                assert_eq!((&document["sequence"], &document["source"]), (&json!(7), &json!("s")));
                let received = Received::read(&value).unwrap();
                joined.extend(joiner.push::<Value>(&value, &received).unwrap());
            };
            sender.enclose(&"events".into(), session, at, &item, received).unwrap();
            let [joined] = &joined[..] else { panic!("{} items", joined.len()) };
            assert_eq!((&joined["event"], &joined["data"]), (&item["event"], &item["data"]));
        }
    }

    #[test]
    fn a_message_of_another_version_is_refused() {
        let value = json!({
            "version": 2, "session": null, "session_number": 0, "sequence": 1,
            "position": Position::default(),
        });
        let refused = Received::read(value.to_string().as_bytes()).unwrap_err();
        assert!(refused.to_string().contains("it has version 2"), "{refused}");
    }
}
