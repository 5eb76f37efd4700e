//! Cursor's chats: those of its command line program, `~/.cursor/chats/<hash>/<id>/store.db`, and those of its editor,
//! `<editor>/User/globalStorage/state.vscdb`.
//!
//! [`CursorSource`](super::CursorSource) reads both as the same lines. A transcript of a chat that has a store is another
//! name of the chat: the store has ids, results and thoughts too. The copies of messages that the editor sends
//! (`agentKv`) are not read. A store states no tokens, and newer editors state 0, which is unknown. A message wrapped in one
//! of Protocol Buffers, and the path of the workspace in the list of messages have one witness each.

use std::sync::Arc;

use foldline::source::Opener;

use super::transcript;
use crate::{
    action::Titled,
    dialect::messages::{MessageFormat, Messages, Parts},
    prelude::*,
};

/// A chat.
pub type CursorChat = Messages<ChatFormat>;

/// The format of chats.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChatFormat;

impl MessageFormat for ChatFormat {
    const FORMAT: Format = Format::new("cursor-chat", "Cursor agent, chats", "cursor")
        .with_homes(&["~/.cursor/chats", editor_folder!("Cursor", "globalStorage/state.vscdb")])
        .with_no_logs(&["meta.json", "prompt_history.json"]);
    const KEY: &'static str = "cursorChat";

    fn openers() -> Vec<Arc<dyn Opener>> {
        vec![
            #[cfg(feature = "databases")]
            Arc::new(super::CursorSource),
        ]
    }

    fn action(name: &str, given: &mut Object<'_>, cwd: Option<&str>) -> Option<Titled> {
        transcript::action(name, given, cwd)
    }

    fn is_plain(name: &str) -> bool {
        transcript::is_plain(name)
    }

    /// A text that was sent for a person has the only time of a store.
    fn split(kind: NormalizedEntryType, text: Text) -> (Parts, Option<Timestamp>) {
        match kind {
            NormalizedEntryType::UserMessage => transcript::sent(text.into()),
            NormalizedEntryType::AssistantMessage => (transcript::answered(text.into()), None),
            kind => (vec![(kind, text.into())], None),
        }
    }
}
