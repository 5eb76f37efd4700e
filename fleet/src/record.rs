//! What stands in the topic of events: events, and how far their source has come.
//!
//! Every message names its source in a header. An event is the JSON of `replay --format events`; one that is longer
//! than a message may be is several messages in a row, each with the header `part`, as `2/3`.

use std::{borrow::Cow, sync::Arc};

use foldline::{conversation::Position, ledger::SourceFacts};
use serde::{Deserialize, Serialize};

use crate::ledger::Message;

/// The header that names the source.
pub(crate) const SOURCE: &str = "source";
/// The header that says what the message is: [`EVENT`] or [`CHECKPOINT`].
pub(crate) const KIND: &str = "kind";
/// A domain event.
pub(crate) const EVENT: &str = "event";
/// A [`Reached`].
pub(crate) const CHECKPOINT: &str = "checkpoint";

/// What the names of marks begin with that say why a source is not folded; the name of the source follows.
pub(crate) const UNFOLDED: &str = "unfolded ";
/// The header of a message that is a part of an event: which one, and of how many.
pub(crate) const PART: &str = "part";

/// The most bytes of a value: brokers take messages of a mebibyte, unless told otherwise.
const MOST: usize = 900 << 10;

/// How far a source has come: it follows the events up to there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reached {
    /// Where the log was, its format, its task.
    pub(crate) facts: SourceFacts,
    /// The machine that it is on.
    pub(crate) host: String,
    /// Where it stood before the events that precede this; `None` at its beginning.
    pub(crate) from: Option<Position>,
    /// Where the next record begins.
    pub(crate) position: Position,
    /// The log is complete.
    pub(crate) complete: bool,
    /// How many events there were so far.
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
    /// The messages that carry a value.
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

/// Joins the parts of an event. Parts of one source follow each other: a transaction is committed as a whole.
#[derive(Debug, Default)]
pub(crate) struct Joiner {
    parts: Vec<u8>,
}

impl Joiner {
    /// Adds a message with this value and this header [`PART`]. The whole value, once it is complete.
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
