//! `codex exec --json`.

mod items;
mod threads;
mod types;

use self::{
    items::{CodexExecMemory, Step},
    types::{ExecJson, ExecLine},
};
use crate::{
    codex::{AGENT, result::CodexResult},
    prelude::*,
    recogniser::all_strings,
};

/// `codex exec --json`.
///
/// - The lines of an item are one entry, keyed by its id. A single `item.completed` is a call with its result.
/// - `turn.completed` states all tokens of the thread so far; only the increase is reported, per thread. (So several
///   turns of a thread add up, and a resumed run counts its past once.)
/// - A failure that is reported twice, as `error` and as `turn.failed`, is one entry.
#[derive(Clone, Copy, Debug, Default)]
pub struct CodexExec;

type Cx<'s> = Context<'s, CodexResult>;

impl Executor for CodexExec {
    const FORMAT: Format = Format::new("codex-exec", "Codex CLI, exec --json", AGENT);
    type Line<'a> = ExecLine<'a>;
    type Result = CodexResult;
    type Memory = CodexExecMemory;

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        Evidence::certain_if(match &*object.get_str("type").unwrap_or_default() {
            "thread.started" => object.has("thread_id"),
            "turn.started" => true,
            "turn.completed" => object.has("usage"),
            "turn.failed" => object.has("error"),
            "item.started" | "item.updated" | "item.completed" => object.has("item"),
            // An error has only its text.
            "error" => all_strings(object, &["message"]) && object.clone().rest().len() == 2,
            _ => false,
        })
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<ExecLine<'a>> {
        ExecLine::parse(object, header)
    }

    fn line(&self, line: ExecLine<'_>, extra: Extra, memory: &mut Self::Memory, cx: &mut Cx<'_>) {
        let ExecLine { json, thread_id } = line;
        let thread = thread_id.as_deref();
        cx.parent = memory.threads.parent_call(thread);
        Step { memory, cx, thread }.line(json, extra);
    }

    fn end(&self, memory: &mut CodexExecMemory, cx: &mut Cx<'_>) {
        memory.growing.finish(cx);
    }
}

impl Step<'_, '_> {
    fn line(&mut self, json: ExecJson<'_>, extra: Extra) {
        match json {
            ExecJson::ThreadStarted { model } => self.thread_started(model),
            ExecJson::TurnStarted => {
                if !self.memory.threads.is_foreign(self.thread) {
                    self.memory.turns += 1;
                    self.memory.last_error = None;
                }
            }
            ExecJson::TurnCompleted { usage } => {
                self.turn_ended(Outcome::Success, None);
                self.count(usage);
            }
            ExecJson::Failed { message } => self.failed(message),
            ExecJson::Item(phase, item) => self.item(phase, item, extra),
            ExecJson::SubagentCompleted(fields) => {
                self.cx.entry(NormalizedEntryType::SystemMessage, "sub-agent completed", fields);
            }
        }
    }

    fn thread_started(&mut self, model: Option<Text>) {
        self.memory.threads.start(self.thread);
        self.memory.last_error = None;
        let session_id = self.thread.map(SessionId::from);
        let started_at = self.cx.at.filter(|_| self.cx.known().started_at.is_none());
        self.cx.session(Session { session_id, model, started_at, ..Session::default() });
    }

    fn turn_ended(&mut self, outcome: Outcome, reason: Option<Text>) {
        if self.memory.threads.is_foreign(self.thread) {
            return;
        }
        // An earlier reason is outdated.
        let outdated = outcome == Outcome::Success && self.cx.known().outcome_reason.is_some();
        let outcome_reason = reason.or_else(|| outdated.then(|| "turn completed".into()));
        let turns = Some(self.memory.turns).filter(|&turns| turns > 0);
        let (outcome, ended_at) = (Some(outcome), self.cx.at);
        self.cx.session(Session { outcome, outcome_reason, turns, ended_at, ..Session::default() });
    }

    fn failed(&mut self, message: Text) {
        // The first error is the reason of the later ones.
        let reason = self.memory.last_error.is_none().then(|| message.clone());
        self.turn_ended(Outcome::Failed, reason);
        if self.memory.last_error.as_ref() != Some(&message) {
            self.memory.last_error = Some(message.clone());
            self.cx.entry(NormalizedEntryType::ErrorMessage, message, ());
        }
    }

    fn count(&mut self, total: Option<TokenUsage>) {
        let usage = total.and_then(|total| self.memory.threads.count(self.thread, total));
        self.cx.usage(usage.unwrap_or_default());
    }
}
