//! Records of the events topic: events, and the positions reached in their sources.
//!
//! Every message names its source in a header. An event is the JSON of `replay --format events`; an event that
//! exceeds the size of a message is split over consecutive messages, each with the header `part`, such as `2/3`.

use std::{borrow::Cow, sync::Arc};

use foldline::{
    conversation::{Json, Position},
    ledger::{SourceFacts, SourceName},
};
use serde::{Deserialize, Serialize};

use crate::ledger::Message;

/// The header that names the source.
pub(crate) const SOURCE: &str = "source";
/// The header with the kind of the message: [`EVENT`] or [`CHECKPOINT`].
pub(crate) const KIND: &str = "kind";
/// A domain event.
pub(crate) const EVENT: &str = "event";
/// A [`Reached`].
pub(crate) const CHECKPOINT: &str = "checkpoint";

/// Prefix of the names of marks with an [`Unfolded`]; the name of the source follows.
pub(crate) const UNFOLDED: &str = "unfolded ";

/// The reason why a source is not folded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unfolded {
    pub(crate) note: String,
    /// The offset of the logs from which its partition has to be read again to fold it.
    pub(crate) from: i64,
}

impl Unfolded {
    /// The name of the mark of a source.
    pub(crate) fn mark(source: &SourceName) -> String {
        format!("{UNFOLDED}{source}")
    }

    /// Reads a mark; `None` if the source is folded.
    pub(crate) fn read(mark: &Json) -> Option<Self> {
        // Earlier versions stored only the note.
        let only_note = || Some(Self { note: serde_json::from_str(mark.get()).ok()?, from: 0 });
        serde_json::from_str(mark.get()).ok().or_else(only_note)
    }
}
/// The header of a part of an event: its number and the number of parts.
pub(crate) const PART: &str = "part";

/// The maximum length of a value in bytes: brokers accept messages of a mebibyte by default.
const MOST: usize = 900 << 10;

/// The position reached in a source, sent after the events up to there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reached {
    /// The path, format and task of the log.
    pub(crate) facts: SourceFacts,
    /// The machine of the log.
    pub(crate) host: String,
    /// The position before the preceding events; `None` at the beginning.
    pub(crate) from: Option<Position>,
    /// The position of the next record.
    pub(crate) position: Position,
    /// The log is complete.
    pub(crate) complete: bool,
    /// The number of events so far.
    pub(crate) events: u64,
}

/// A message without its value.
pub(crate) struct Envelope<'a> {
    pub(crate) topic: &'a Arc<str>,
    pub(crate) partition: i32,
    pub(crate) key: &'a str,
    pub(crate) source: &'a Arc<str>,
    pub(crate) kind: &'a Arc<str>,
}

impl Envelope<'_> {
    /// Passes the messages that carry a value to `each`.
    pub(crate) fn enclose(&self, value: Vec<u8>, mut each: impl FnMut(Message)) {
        let Self { topic, partition, key, source, kind } = *self;
        let message = |value: Vec<u8>| Message {
            topic: topic.clone(),
            partition: Some(partition),
            key: key.as_bytes().to_owned(),
            value,
            headers: vec![(SOURCE, source.clone()), (KIND, kind.clone())],
        };
        if value.len() <= MOST {
            return each(message(value));
        }
        let count = value.len().div_ceil(MOST);
        for (index, part) in value.chunks(MOST).enumerate() {
            let mut message = message(part.to_owned());
            message.headers.push((PART, format!("{}/{count}", index + 1).into()));
            each(message);
        }
    }
}

/// Joins the parts of an event. Parts of one source are consecutive, because a transaction is committed as a whole.
#[derive(Debug, Default)]
pub(crate) struct Joiner {
    parts: Vec<u8>,
}

impl Joiner {
    /// Adds a message with this value and this header [`PART`]. Returns the whole value once it is complete.
    pub(crate) fn push<'v>(
        &mut self,
        value: &'v [u8],
        part: Option<&str>,
    ) -> Option<Cow<'v, [u8]>> {
        let Some((index, count)) = part.and_then(|part| part.split_once('/')) else {
            return Some(value.into());
        };
        if index == "1" {
            self.parts.clear();
        }
        self.parts.extend_from_slice(value);
        (index == count).then(|| std::mem::take(&mut self.parts).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_for_a_message_is_joined_again() {
        let (topic, source, kind) = ("events".into(), "s".into(), EVENT.into());
        let envelope =
            Envelope { topic: &topic, partition: 1, key: "k", source: &source, kind: &kind };
        for length in [0, 1, MOST, MOST + 1, 3 * MOST, 3 * MOST + 7] {
            let value: Vec<u8> = (0..length).map(|n| (n % 251) as u8).collect();
            let (mut joiner, mut joined) = (Joiner::default(), Vec::new());
            envelope.enclose(value.clone(), |message| {
                assert!(message.value.len() <= MOST);
                let part = message.headers.iter().find(|(name, _)| *name == PART);
                let part = part.map(|(_, part)| &**part);
                joined.extend(joiner.push(&message.value, part).map(Cow::into_owned));
            });
            assert_eq!(joined, [value], "{length}");
        }
    }
}
