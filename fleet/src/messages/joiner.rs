//! [`Joiner`]: joins the parts of an event.

use serde::de::DeserializeOwned;

use super::{UnreadableMessage, envelope::Received};

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
