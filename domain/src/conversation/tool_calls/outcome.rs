//! [`CallResult`]: a result in the form of an executor; [`ToolOutcome`]: one with all that a log may state.

use std::{marker::PhantomData, mem::discriminant};

use foldline::position::Timestamp;
use foldline_json::{Json, Text};
use serde::{Deserialize, Serialize};

use super::super::{
    action::{ActionType, CommandExitStatus, FileChange, ToolResult},
    content::{Content, Image, moved},
    entry::{NormalizedEntry, ToolStatus},
    id::{CorrId, SessionId},
    size::{length_of_extra, length_of_images},
};

/// A tool's result. What the log does not state is `None`.
///
/// What is the same for every call is read when the result is built. What depends on what the call does, such as
/// an exit code among the words of a command's output, is read by `W` when the result meets its call.
///
/// ```
/// use foldline_domain::{
///     ActionType, CommandExitStatus, NormalizedEntry, NormalizedEntryType, ToolStatus, ToolUse,
///     tool_calls::{CallResult, ToolOutcome},
/// };
///
/// let action = ActionType::CommandRun { command: "ls".into(), result: None };
/// let tool = ToolUse::new("shell", action);
/// let mut call = NormalizedEntry::new(NormalizedEntryType::ToolUse(tool), "ls");
///
/// let mut result: ToolOutcome = ToolOutcome::new(ToolStatus::Failed, None);
/// result.exit_status = Some(CommandExitStatus::ExitCode { code: 2 });
/// result.complete(&mut call);
/// assert_eq!(call.tool().map(|tool| &tool.status), Some(&ToolStatus::Failed));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct ToolOutcome<W = ()> {
    /// The final status of the call.
    pub status: ToolStatus,
    /// What the tool gave back.
    pub body: Option<ToolResult>,
    /// The pictures in the body, which is a text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// How a command exited; one that exited with another code than 0, or did not succeed, has failed. The code of
    /// another call than a command is kept as the further field `result.exit_status`.
    pub exit_status: Option<CommandExitStatus>,
    /// What the call did, if that is not what its beginning said: an edit as it was made, a list as it is
    /// then. Of another kind than the call, it is kept as the further field `result.action`.
    pub action: Option<Box<ActionType>>,
    /// The title of `action`, which then replaces what the beginning said, of whatever kind it is.
    pub title: Option<Text>,
    /// What a person is shown: of an edit its diff, with the line numbers of the file. Where it says more than the
    /// call does, it is kept as the further field [`ResultParser::DETAIL`].
    pub detail: Option<Text>,
    /// How long the call took, in milliseconds.
    pub duration_ms: Option<u64>,
    /// When it ended.
    pub timestamp: Option<Timestamp>,
    /// The session that the call started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_session_id: Option<SessionId>,
    /// Further fields, for the entry's metadata.
    pub extra: Vec<(String, Json)>,
    #[serde(skip)]
    /// How its words are read.
    pub wording: PhantomData<W>,
}

/// How the words of one agent's results are read, once it is known what the call does.
pub trait ResultParser: Clone {
    /// The further field in which a detail is kept that has no other place.
    const DETAIL: &'static str = "detail";
    /// Whether a command that failed is stated to have failed, if the log has no exit code.
    const STATES_FAILURE: bool = true;

    /// Reads what the words of a result say of a call that does this.
    fn read(_outcome: &mut ToolOutcome<Self>, _action: &mut ActionType) {}
}

/// Nothing is in the words.
impl ResultParser for () {}

impl<W> ToolOutcome<W> {
    /// A result that states nothing more.
    pub const fn new(status: ToolStatus, timestamp: Option<Timestamp>) -> Self {
        Self {
            status,
            body: None,
            images: Vec::new(),
            exit_status: None,
            action: None,
            title: None,
            detail: None,
            duration_ms: None,
            timestamp,
            child_session_id: None,
            extra: Vec::new(),
            wording: PhantomData,
        }
    }

    /// A result that is a status and a text, where a command without an exit code has succeeded or failed as the
    /// status says.
    pub fn text(status: ToolStatus, text: impl Into<Text>) -> Self {
        let success = match status {
            ToolStatus::Success => Some(true),
            ToolStatus::Failed => Some(false),
            _ => None,
        };
        let mut outcome = Self::new(status, None).with_body(text.into());
        outcome.exit_status = success.map(|success| CommandExitStatus::Success { success });
        outcome
    }

    /// The same, with the time of the result.
    #[must_use]
    pub fn at(self, timestamp: Option<Timestamp>) -> Self {
        Self { timestamp, ..self }
    }

    /// The same, with what the tool gave back.
    #[must_use]
    pub fn with_body(self, body: impl Into<Option<Text>>) -> Self {
        Self { body: body.into().map(ToolResult::Text), ..self }
    }

    /// The same, with what the tool gave back, with the pictures in it.
    #[must_use]
    pub fn with_content(self, content: impl Into<Option<Content>>) -> Self {
        let content: Option<Content> = content.into();
        let (text, images) = content.map(|content| (content.text, content.images)).unzip();
        Self { images: images.unwrap_or_default(), ..self.with_body(text) }
    }

    /// The same, with further fields.
    #[must_use]
    pub fn with_extra(self, extra: Vec<(String, Json)>) -> Self {
        Self { extra, ..self }
    }

    /// The same, with what a person is shown.
    #[must_use]
    pub fn with_detail(self, detail: Option<Text>) -> Self {
        Self { detail, ..self }
    }

    /// Reads what the words of the body say. Pictures move with the part of it that is left.
    fn read(&mut self, action: &mut ActionType)
    where
        W: ResultParser,
    {
        let images = std::mem::take(&mut self.images);
        if images.is_empty() {
            return W::read(self, action);
        }
        let text =
            |body: &Option<ToolResult>| body.clone().map(ToolResult::into_text).unwrap_or_default();
        let before = text(&self.body);
        W::read(self, action);
        self.images.extend(moved(images, &before, &text(&self.body)));
    }

    fn keep(&mut self, name: &str, fact: impl Into<Option<Json>>) {
        self.extra.extend(fact.into().map(|fact| (name.to_owned(), fact)));
    }
}

impl<W: ResultParser> CallResult for ToolOutcome<W> {
    fn complete(mut self, call: &mut NormalizedEntry) {
        let Some(tool) = call.tool_mut() else { return };
        match self.action.take() {
            Some(action)
                if self.title.is_some()
                    || discriminant(&*action) == discriminant(&tool.action_type) =>
            {
                tool.action_type = *action;
            }
            Some(action) => self.keep("result.action", Json::of(&action).ok()),
            None => {}
        }
        if let ActionType::FileEdit { changes, .. } = &mut tool.action_type {
            self.detail = self.detail.and_then(|diff| replace_diff(changes, diff));
        }
        self.read(&mut tool.action_type);
        if let ActionType::CommandRun { result, .. } = &mut tool.action_type {
            let failed = W::STATES_FAILURE && self.status == ToolStatus::Failed;
            let stated = failed.then_some(CommandExitStatus::Success { success: false });
            let result = result.get_or_insert_default();
            result.exit_status = self.exit_status.or(result.exit_status).or(stated);
            let is_error = match result.exit_status {
                Some(CommandExitStatus::ExitCode { code }) => code != 0,
                Some(CommandExitStatus::Success { success }) => !success,
                None => false,
            };
            if is_error && self.status == ToolStatus::Success {
                self.status = ToolStatus::Failed;
            }
        } else if let Some(code @ CommandExitStatus::ExitCode { .. }) = self.exit_status {
            self.keep("result.exit_status", Json::of(&code).ok());
        }
        let is_replaced = self.body.is_some();
        if let Some(body) = self.body.take() {
            tool.action_type.set_result(body);
        }
        tool.duration_ms = self.duration_ms.or(tool.duration_ms);
        let detail = self.detail.take().map(Json::from);
        self.keep(W::DETAIL, detail);
        tool.status = self.status;
        if let Some(title) = self.title {
            call.content = title;
        }
        if !self.extra.is_empty() {
            call.metadata_mut().extra.extend(self.extra);
        }
        if self.child_session_id.is_some() {
            call.metadata_mut().child_session_id = self.child_session_id;
        }
        if !self.images.is_empty() {
            call.metadata_mut().images = self.images;
        } else if let Some(metadata) = call.metadata.as_mut().filter(|_| is_replaced) {
            metadata.images.clear();
        }
    }

    fn timestamp(&self) -> Option<Timestamp> {
        self.timestamp
    }

    fn content(&self) -> Text {
        self.clone().into_content()
    }

    fn into_content(mut self) -> Text {
        if let Some(code @ CommandExitStatus::ExitCode { .. }) = self.exit_status {
            self.keep("result.exit_status", Json::of(&code).ok());
        }
        let body = self.body.map(ToolResult::into_text).unwrap_or_default();
        if self.extra.is_empty() {
            return body;
        }
        let extra = self.extra.iter().map(|(name, json)| format!("\n{name}: {}", json.get()));
        Text::from(body.into_string() + &extra.collect::<String>())
    }

    fn length(&self) -> usize {
        let body = self.body.as_ref().map_or(0, |body| match body {
            ToolResult::Text(text) => text.length(),
            ToolResult::Json(json) => json.get().len(),
        });
        let action = self.action.as_ref().map_or(0, |action| action.length());
        let texts = [&self.title, &self.detail].into_iter().flatten().map(Text::length);
        let further = length_of_extra(&self.extra) + length_of_images(&self.images);
        body + action + texts.sum::<usize>() + further
    }
}

/// Puts the diff of a result, which has the line numbers of the file, in the place of what the call said
/// of the same change. Gives it back where it says more: of several files, or of one that was not there.
fn replace_diff(changes: &mut [FileChange], diff: Text) -> Option<Text> {
    match changes {
        // Its content says it all.
        [FileChange::Write { .. }] => None,
        [FileChange::Edit { unified_diff, has_line_numbers, .. }] => {
            let text = diff.decode();
            let Some(at) = text.find("@@ -") else { return Some(diff) };
            *unified_diff = Text::from(&text[at..]);
            *has_line_numbers = true;
            None
        }
        _ => Some(diff),
    }
}

/// A tool's result in the form of one executor.
pub trait CallResult {
    /// Writes the result into its call: the status (always a final one) and the body; the duration only if the log
    /// states it, otherwise it is computed from the timestamps.
    fn complete(self, call: &mut NormalizedEntry);

    /// The time of the result, if the log states it.
    fn timestamp(&self) -> Option<Timestamp>;

    /// The text that is kept of a result without a call.
    fn content(&self) -> Text;

    /// Like `content`, by value, so that a long text need not be copied.
    fn into_content(self) -> Text
    where
        Self: Sized,
    {
        self.content()
    }

    /// Its size in bytes, which bounds the results that await their call. It must be the same after storing and
    /// reading.
    fn length(&self) -> usize {
        self.content().decode().len()
    }
}

/// Identifies the call of a result: by the call's id, or else by the message and the tool.
///
/// ```
/// use foldline_domain::tool_calls::ResultKey;
///
/// let by_id = ResultKey::from("call-1");
/// let by_guess = ResultKey::default().with_message("msg-7").with_tool("Read");
/// assert!(by_id.id.is_some() && by_guess.id.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultKey {
    /// The call's id.
    pub id: Option<CorrId>,
    /// The id of the message that made the call.
    pub message_id: Option<Text>,
    /// The called tool.
    pub tool_name: Option<Text>,
}

impl ResultKey {
    /// Sets the id of the message that made the call.
    #[must_use]
    pub fn with_message(mut self, id: impl Into<Text>) -> Self {
        self.message_id = Some(id.into());
        self
    }

    /// Sets the name of the called tool.
    #[must_use]
    pub fn with_tool(mut self, name: impl Into<Text>) -> Self {
        self.tool_name = Some(name.into());
        self
    }
}

impl From<Option<CorrId>> for ResultKey {
    fn from(id: Option<CorrId>) -> Self {
        Self { id, ..Self::default() }
    }
}

impl From<CorrId> for ResultKey {
    fn from(id: CorrId) -> Self {
        Self { id: Some(id), ..Self::default() }
    }
}

impl From<&str> for ResultKey {
    fn from(id: &str) -> Self {
        CorrId::from(id).into()
    }
}
