//! Tools of MCP servers, and tools that the client offers (`dynamic_tool_call_..`).

use super::command::duration_ms;
use crate::{
    codex::{
        action_mapper, either,
        result::{self, CodexResult, Status},
    },
    content::Blocks,
    prelude::*,
};

/// A call of a tool from outside Codex.
#[derive(Clone, Debug, Default)]
pub struct McpCall<'a> {
    /// The MCP server; absent for a tool of the client.
    pub server: Option<Cow<'a, str>>,
    /// The group of a tool of the client.
    pub namespace: Option<Cow<'a, str>>,
    pub tool: Cow<'a, str>,
    pub arguments: Option<Raw<'a>>,
    pub content: Option<Blocks>,
    /// The result as structured data.
    pub structured: Option<Json>,
    pub error: Option<Text>,
    pub status: Status,
    pub duration_ms: Option<u64>,
}

impl<'a> McpCall<'a> {
    /// Reads `mcp_tool_call` items and `mcp_tool_call_end` events.
    pub fn take(object: &mut Object<'a>) -> Self {
        let mut call = Self { status: Status::take(object), ..Self::default() };
        call.take_invocation(object);
        if let Some(mut invocation) = object.object("invocation") {
            call.take_invocation(&mut invocation);
            object.adopt("invocation", invocation);
        }
        if let Some(mut result) = object.object("result") {
            match result.raw("Err") {
                Some(error) => call.error = Some(message_of(error)),
                None => {
                    let nested = result.object("Ok");
                    call.take_result(nested.unwrap_or(result));
                }
            }
        }
        call.error = object.raw("error").map(message_of).or(call.error);
        call.take_duration(object);
        object.ignore(&["connector_id", "link_id", "app_name", "action_name", "plugin_id"]);
        object.ignore(&["read_only_hint", "readOnlyHint", "mcp_app_resource_uri"]);
        call
    }

    /// Reads `dynamic_tool_call_request` and `.._response`.
    pub fn take_dynamic(object: &mut Object<'a>) -> Self {
        let mut call = Self::default();
        call.take_invocation(object);
        call.namespace = object.str("namespace");
        call.content = either(object, "content_items", Object::raw).map(Blocks::read);
        call.error = object.raw("error").map(message_of);
        call.status = Status::take(object).or(Status::of_success(object.bool("success")));
        call.take_duration(object);
        object.ignore(&["turn_id", "turnId"]);
        call
    }

    fn take_invocation(&mut self, object: &mut Object<'a>) {
        self.server = object.str("server").or(self.server.take());
        if let Some(tool) = object.str("tool") {
            self.tool = tool;
        }
        self.arguments = object.raw("arguments").or(self.arguments);
    }

    fn take_result(&mut self, mut result: Object<'a>) {
        self.content = result.raw("content").map(Blocks::read);
        self.structured = either(&mut result, "structured_content", Object::json);
        if either(&mut result, "is_error", Object::bool) == Some(true) {
            self.status = Status::Failed;
        }
    }

    fn take_duration(&mut self, object: &mut Object<'_>) {
        self.duration_ms = either(object, "duration_ms", Object::u64)
            .or_else(|| object.take("duration", duration_ms));
    }

    pub(super) fn name(&self) -> Cow<'_, str> {
        match &self.server {
            Some(server) => format!("mcp__{server}__{}", self.tool).into(),
            None => action_mapper::full_name(self.namespace.as_deref(), &self.tool),
        }
    }

    pub(super) fn call(&self) -> MappedCall {
        MappedCall::tool(&self.name(), self.arguments)
    }

    pub(super) fn result(&self) -> CodexResult {
        let content = self.content.as_ref();
        let content = content.filter(|content| !content.parts.is_empty()).map(Blocks::content);
        let content = content.or_else(|| self.error.clone().map(Content::from));
        let mut result = result::of_status(&self.status, None).with_content(content);
        let structured = || self.structured.clone().map(ToolResult::Json);
        result.body = result.body.take().or_else(structured);
        if self.error.is_some() && result.status == ToolStatus::Success {
            result.status = ToolStatus::Failed;
        }
        let structured = self.structured.clone().map(|json| ("structuredContent".to_owned(), json));
        result.extra.extend(structured);
        result.duration_ms = self.duration_ms;
        result
    }
}

/// An error: `{message}`, or any value.
fn message_of(raw: Raw<'_>) -> Text {
    let object: Option<Object<'_>> = value::object(raw);
    object.and_then(|mut object| object.text("message")).unwrap_or_else(|| value::into_text(raw))
}
