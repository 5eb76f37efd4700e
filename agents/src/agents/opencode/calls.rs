//! Calls of opencode's tools, each of which is logged together with its result.

use super::{
    action_mapper,
    result::{self, OpencodeResult},
    types::ToolUse,
};
use crate::prelude::*;

/// Emits a call and its result.
pub(super) fn ended(line: ToolUse<'_>, meta: Meta, cx: &mut Context<'_, OpencodeResult>) {
    begun(&line, meta, cx);
    let key = ResultKey::from(line.id.clone()).with_tool(Text::from(&*line.name));
    cx.result(key, result::of(line));
}

/// Emits a call.
pub(super) fn begun(line: &ToolUse<'_>, mut meta: Meta, cx: &mut Context<'_, OpencodeResult>) {
    let call = action_mapper::map(&line.name, line.input, cx.cwd().as_deref());
    let title = line.title.clone().filter(|title| *title != call.title);
    meta.extra.extend(title.map(|title| ("title".to_owned(), Json::from(title))));
    cx.call(line.id.clone(), &line.name, call, meta);
}
