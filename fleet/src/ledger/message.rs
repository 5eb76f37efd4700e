//! [`Message`]: an output of a [`KafkaLedger`](super::KafkaLedger).

use std::sync::Arc;

use rdkafka::message::{Header, OwnedHeaders};

/// A message that is sent when its segment is committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The topic.
    pub topic: Arc<str>,
    /// The partition; `None` leaves the choice to the key.
    pub partition: Option<i32>,
    /// The key.
    pub key: Vec<u8>,
    /// The value; `None` removes the key from a compacted topic.
    pub value: Option<Vec<u8>>,
    /// Names and values of the headers.
    pub headers: Vec<(&'static str, Arc<str>)>,
}

impl Message {
    pub(super) fn headers(&self) -> OwnedHeaders {
        self.headers
            .iter()
            .fold(OwnedHeaders::new_with_capacity(self.headers.len()), |headers, (key, value)| {
                headers.insert(Header { key, value: Some(&**value) })
            })
    }
}
