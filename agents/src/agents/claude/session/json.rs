//! [`ClaudeSessionJson`]: the content of a record.

use super::progress::Progress;
use crate::{dialect::anthropic::Message, prelude::*};

/// One record of a session file.
#[derive(Clone, Debug)]
pub enum ClaudeSessionJson<'a> {
    /// `user`: a prompt, a tool's result, or a message of the program in the user's name.
    User {
        message: Box<Message<'a>>,
        /// The tool-specific result.
        detail: Option<Raw<'a>>,
        /// The reasons why tools did not run.
        meta: Option<Vec<Raw<'a>>>,
        /// The kind of its texts, if the program wrote them, not the user.
        by_program: Option<NormalizedEntryType>,
    },
    /// `assistant`: usually one block of a message.
    Assistant {
        message: Box<Message<'a>>,
        /// Whether the program generated it after a failure.
        is_error: bool,
        /// The effort of its reasoning.
        effort: Option<Text>,
    },
    /// `system` and attachments: a message of the program or context for the model.
    Said(NormalizedEntryType, Vec<Content>),
    Progress {
        call: Option<CorrId>,
        progress: Progress<'a>,
    },
    /// A record without a place in the tree, or an attachment, of an unknown type.
    UnknownBookkeeping {
        name: Cow<'a, str>,
        fields: Fields<'a>,
    },
    /// `system`, of an unknown subtype, with words.
    UnknownSystem {
        name: String,
        text: Text,
    },
    /// `custom-title`: the title that the user gave.
    CustomTitle(Text),
    /// `ai-title` and `summary`.
    Title(Text),
    /// Facts of the session.
    Facts(Box<Session>),
    /// A notice about a refused request, and the model that answers instead.
    Fallback(Text, Text),
    PullRequest(Text, Extra),
    /// Known bookkeeping without displayable content.
    Quiet,
}
