//! [`Echoes`]: recent content with its channels.

use std::collections::VecDeque;

use foldline_domain::Text;
use serde::{Deserialize, Serialize};

/// The number of items that are remembered. Echoes follow within a few lines, but the result of a call may follow the
/// results of many parallel calls.
const REMEMBERED: usize = 512;

/// The channel of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Channel {
    /// `response_item`, `compacted`.
    Item = 1,
    /// `event_msg`.
    Event = 2,
    /// `event_msg` of the type `item_completed`.
    Completed = 4,
    /// The end of a turn, which repeats the last message or error.
    TurnEnd = 8,
}

/// The kind of an item: the same text may be a question and an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EchoKind {
    /// A message of the user.
    User,
    /// A message of the agent.
    Agent,
    /// A thought of the agent.
    Thought,
    /// A message of the program.
    Notice,
    /// A call, by its id.
    Call,
    /// The result of a call, by the call's id.
    Result,
    /// A compaction, which has no words in common.
    Compaction,
    /// The id of a message or a thought, whose words may differ between channels.
    Id,
    /// An error of a turn.
    Error,
}

/// The latest items, each with its channels.
///
/// An item that is repeated *on another channel* is an echo; on the same channel it is a new item. So the result does
/// not depend on the order and the presence of the channels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Echoes {
    heard: VecDeque<(u64, u8)>,
}

impl Echoes {
    /// Whether this item appeared before on another channel.
    pub(super) fn is_echo(&mut self, kind: EchoKind, words: &str, channel: Channel) -> bool {
        self.is_echo_of(&[fingerprint(kind, words)], channel)
    }

    /// Whether an item with any of these fingerprints appeared before on another channel.
    pub(super) fn is_echo_of(&mut self, prints: &[u64], channel: Channel) -> bool {
        let mut is_echo = false;
        for print in prints {
            if self.is_heard(*print, channel) {
                is_echo = true;
                continue;
            }
            self.heard.push_back((*print, channel as u8));
            if self.heard.len() > REMEMBERED {
                self.heard.pop_front();
            }
        }
        is_echo
    }

    /// Whether this fingerprint appeared before on another channel; if not, it is not remembered.
    pub(super) fn is_heard(&mut self, print: u64, channel: Channel) -> bool {
        let channel = channel as u8;
        let earlier =
            self.heard.iter_mut().find(|(heard, on)| *heard == print && on & channel == 0);
        earlier.map(|(_, on)| *on |= channel).is_some()
    }
}

/// The fingerprints of an item: of its words, and of its id.
pub(super) fn prints(kind: EchoKind, words: &str, id: Option<&Text>) -> Vec<u64> {
    let id = id.map(|id| fingerprint(EchoKind::Id, &id.decode()));
    std::iter::once(fingerprint(kind, words)).chain(id).collect()
}

/// FNV-1a, which does not depend on platform or version, so that a stored state remains valid.
fn fingerprint(kind: EchoKind, words: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in std::iter::once(kind as u8).chain(words.trim().bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::{Channel::*, EchoKind::*, *};

    #[test]
    fn every_order_of_the_channels_says_it_once() {
        for order in [[Item, Event], [Event, Item], [Completed, Event], [Event, TurnEnd]] {
            let mut echoes = Echoes::default();
            let echo = order.map(|channel| echoes.is_echo(Agent, "Done.", channel));
            assert_eq!(echo, [false, true], "{order:?}");
        }
    }

    #[test]
    fn the_same_words_may_be_said_twice() {
        let mut echoes = Echoes::default();
        let heard = [Item, Event, Item, Event].map(|on| echoes.is_echo(User, "go on", on));
        assert_eq!(heard, [false, true, false, true]);
        let mut echoes = Echoes::default();
        let heard = [Event, Event].map(|on| echoes.is_echo(User, "go on", on));
        assert_eq!(heard, [false, false]);
        assert!(!echoes.is_echo(Agent, "go on", Item));
    }

    #[test]
    fn memory_is_bounded() {
        let mut echoes = Echoes::default();
        for n in 0..10_000 {
            echoes.is_echo(Agent, &n.to_string(), Item);
        }
        assert_eq!(echoes.heard.len(), REMEMBERED);
    }
}
