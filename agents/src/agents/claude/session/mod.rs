//! Session files: `~/.claude/projects/<project>/<session>.jsonl`.

mod attachment;
mod bookkeeping;
mod cost_state;
mod progress;
mod types;

use std::{collections::VecDeque, path::Path};

use serde::{Deserialize, Serialize};

use self::{
    cost_state::{RunCosts, StatedUsage},
    progress::{AgentMessage, Progress},
    types::{Author, ClaudeSessionJson, ClaudeSessionLine},
};
use super::MessageUsage;
use crate::{
    claude::{
        markup,
        messages::{self, Cx, ToModel},
        result::ClaudeResult,
    },
    dialect::anthropic::{Block, BlockKind, Message},
    prelude::*,
    recogniser::{is_tree_record, nested},
};

/// Claude Code's session files.
///
/// Usage is counted once per message, with the largest numbers in its lines, as soon as they appear. This includes the
/// messages of sub-agents in `agent_progress`. The cost of a run, if stated, is counted by [`cost_state`].
///
/// The file `<session>/custom-title.json` next to a session file states the title that the user gave last. A `summary`
/// is the title of the session with the record that it names, which is often in another file: both logs state a fact, the
/// one its last record, the other the title of the session with a record.
#[derive(Clone, Debug, Default)]
pub struct ClaudeSession {
    /// The title in the file next to the log.
    title: Option<Text>,
    /// The call that started the sub-agent of the log.
    call: Option<CorrId>,
    /// The sub-agent that made that call.
    caller: Option<SessionId>,
}

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClaudeSessionMemory {
    usage: MessageUsage,
    /// Whether the file belongs to a sub-agent.
    is_agent_file: bool,
    /// The latest records, since some are written twice.
    records: RecentIds,
    /// The calls of sub-agents that may still be open, oldest first.
    agents: VecDeque<CorrId>,
    /// The last command that the user typed, and its time.
    typed: Option<(Text, Timestamp)>,
    /// The last pull request, which the file repeats.
    pull_request: Option<Text>,
    /// Whether the user gave the session a title.
    #[serde(default)]
    has_custom_title: bool,
    #[serde(default)]
    costs: RunCosts,
    /// The title in the file next to the log.
    #[serde(default)]
    file_title: Option<Text>,
    /// Titles of sessions whose last record was not read yet, by that record.
    #[serde(default)]
    summaries: VecDeque<(CorrId, Text)>,
    /// The last record.
    #[serde(default)]
    leaf: Option<CorrId>,
}

/// Some releases write two records of a command, when it is typed and when it runs, a few milliseconds apart.
const LONGEST_PAUSE_MS: u64 = 1000;

/// The number of records and sub-agents that are remembered.
const REMEMBERED: usize = 256;

/// The number of titles of sessions in other files that are remembered. A file may begin with a dozen.
const MOST_SUMMARIES: usize = 32;

impl Executor for ClaudeSession {
    const FORMAT: Format =
        Format::new("claude-session", "Claude Code, session file", "claude-code")
            .with_tested("2.1.287")
            .with_homes(&[
                "${CLAUDE_CONFIG_DIR:-~/.claude}/projects",
                "${XDG_CONFIG_HOME:-~/.config}/claude/projects",
            ]);
    type Line<'a> = ClaudeSessionLine<'a>;
    type Result = ClaudeResult;
    type Memory = ClaudeSessionMemory;

    fn of_file(&self, path: &Path, beside: Beside<'_>) -> Option<Self> {
        if path.file_name()?.to_str()?.starts_with("agent-") {
            let stated = beside(&path.with_extension("meta.json"))?;
            let mut stated = Object::parse(&stated).ok()?;
            let caller = stated.str("parentAgentId").map(SessionId::from);
            return Some(Self { call: stated.corr_id("toolUseId"), caller, title: None });
        }
        let stated = beside(&path.with_extension("").join("custom-title.json"))?;
        let title = Object::parse(&stated).ok()?.text("customTitle")?;
        let title = Some(title).filter(|title| !title.is_empty());
        Some(Self { title, ..Self::default() })
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        if is_tree_record(object) {
            return tree_record(object);
        }
        Evidence::certain_if(match &*object.get_str("type").unwrap_or_default() {
            "summary" => object.has_all(&["summary", "leafUuid"]),
            "file-history-snapshot" => object.has_all(&["messageId", "snapshot"]),
            "file-history-delta" => object.has_all(&["messageId", "trackingPath"]),
            "queue-operation" => object.has_all(&["operation", "sessionId"]),
            "last-prompt" | "ai-title" => object.has("sessionId"),
            "permission-mode" => object.has_all(&["permissionMode", "sessionId"]),
            "mode" => object.has_all(&["mode", "sessionId"]),
            "pr-link" => object.has_all(&["prNumber", "sessionId"]),
            _ => false,
        })
    }

    fn parse<'a>(
        &self,
        object: &mut Object<'a>,
        header: &mut Header<'a>,
    ) -> Parsed<ClaudeSessionLine<'a>> {
        ClaudeSessionLine::parse(object, header)
    }

    fn line(&self, line: Self::Line<'_>, extra: Extra, memory: &mut Self::Memory, cx: &mut Cx<'_>) {
        let may_end = line.may_end();
        Step { cx, memory, file: self }.reduce(line, extra);
        if may_end && !memory.is_agent_file && cx.known().title.is_none() {
            cx.session(Session { leaf: memory.leaf.clone(), ..Session::default() });
        }
        if memory.file_title != self.title {
            memory.file_title.clone_from(&self.title);
            cx.session(Session { title: self.title.clone(), ..Session::default() });
        }
    }

    fn is_ignored(&self, line: &ClaudeSessionLine<'_>) -> bool {
        match &line.json {
            ClaudeSessionJson::Said(_, texts) => texts.is_empty(),
            ClaudeSessionJson::Progress { progress, .. } => matches!(progress, Progress::Quiet),
            json => matches!(json, ClaudeSessionJson::Quiet) && line.author.authority.is_none(),
        }
    }
}

impl ClaudeSessionMemory {
    /// Reads a record with this id. Returns the title of the session that has it.
    fn pass(&mut self, uuid: &CorrId) -> Option<Text> {
        self.leaf = Some(uuid.clone());
        let at = self.summaries.iter().rposition(|(leaf, _)| leaf == uuid)?;
        self.summaries.remove(at).map(|(_, title)| title)
    }

    /// Remembers the title of a session by its last record. Returns whether it is news.
    fn remember(&mut self, leaf: CorrId, title: Text) -> bool {
        let told = (leaf, title);
        if self.summaries.contains(&told) {
            return false;
        }
        self.summaries.push_back(told);
        self.summaries.drain(..self.summaries.len().saturating_sub(MOST_SUMMARIES));
        true
    }

    /// Whether a record with this content was read before. Different content with the same id is a separate record and
    /// must not be lost.
    fn knows(&mut self, uuid: Option<CorrId>, content: u64) -> bool {
        let Some(uuid) = uuid else { return false };
        let record = CorrId::from(format!("{uuid}#{content:x}"));
        let knows = self.records.contains(&record);
        if !knows {
            self.records.insert(record, REMEMBERED);
        }
        knows
    }
}

/// A record during its processing.
struct Step<'s, 'c> {
    cx: &'s mut Cx<'c>,
    memory: &'s mut ClaudeSessionMemory,
    file: &'s ClaudeSession,
}

impl Step<'_, '_> {
    fn reduce(&mut self, line: ClaudeSessionLine<'_>, extra: Extra) {
        let ClaudeSessionLine { json, mut author, content } = line;
        let uuid = author.uuid.take();
        let summary = uuid.as_ref().and_then(|uuid| self.memory.pass(uuid));
        let is_sidechain = author.is_sidechain;
        self.memory.costs.at = self.cx.at.or(self.memory.costs.at);
        self.enter(author);
        summary.into_iter().for_each(|title| self.title(title));
        // Unknown content is always reported, also from repeated records.
        let is_unknown = matches!(json, ClaudeSessionJson::UnknownBookkeeping { .. });
        if self.memory.knows(uuid, content) && !is_unknown {
            // In a repeated record, only the usage may be new.
            if let ClaudeSessionJson::Assistant { message, .. } = &json
                && message.id.is_some()
            {
                self.count_usage(message);
            }
            return;
        }
        match json {
            ClaudeSessionJson::User { message, detail, meta, by_program } => {
                if extra.is_empty() && self.repeats_command(&message) {
                    return;
                }
                let meta = meta.as_deref().unwrap_or_default();
                messages::user(*message, ToModel { by_program, detail, meta }, extra, self.cx);
            }
            ClaudeSessionJson::Assistant { message, is_error, effort } => {
                if effort.is_some() && !is_sidechain {
                    self.cx.session(Session { reasoning_effort: effort, ..Session::default() });
                }
                self.count_usage(&message);
                let is_main = !is_sidechain || self.memory.is_agent_file;
                self.assistant(*message, is_error, is_main, extra);
            }
            ClaudeSessionJson::Said(kind, texts) => {
                for content in texts {
                    self.cx.entry(kind.clone(), content, ());
                }
            }
            ClaudeSessionJson::Progress { call, progress } => self.progress(call, progress),
            ClaudeSessionJson::UnknownBookkeeping { name, fields } => {
                self.cx.unknown_bookkeeping(&name, &fields);
            }
            ClaudeSessionJson::UnknownSystem { name, text } => {
                self.cx.entry(NormalizedEntryType::SystemMessage, text, extra);
                self.cx.unknown_bookkeeping(&name, &Fields::new());
            }
            ClaudeSessionJson::CustomTitle(title) => {
                self.memory.has_custom_title = true;
                let title = Some(title).filter(|_| self.memory.file_title.is_none());
                self.cx.session(Session { title, ..Session::default() });
            }
            ClaudeSessionJson::Title(title) => self.title(title),
            ClaudeSessionJson::Summary(title, leaf) => match leaf {
                leaf if leaf == self.memory.leaf => self.title(title),
                Some(record) => self.title_of(record, title),
                None => {}
            },
            ClaudeSessionJson::Facts(facts) => self.cx.session(*facts),
            ClaudeSessionJson::Fallback(text, model) => {
                messages::notice(text, self.cx);
                messages::model(Some(model), self.cx);
            }
            ClaudeSessionJson::PullRequest(url, extra) => {
                if self.memory.pull_request.as_ref() != Some(&url) {
                    let text = Text::from(format!("pull request: {url}"));
                    self.cx.entry(NormalizedEntryType::SystemMessage, text, extra);
                    self.memory.pull_request = Some(url);
                }
            }
            ClaudeSessionJson::CostState(state) => {
                for stated in self.memory.costs.settle(*state) {
                    self.cx.at = stated.at;
                    self.cx.usage_of_message(stated.message_id, stated.model, stated.usage);
                }
            }
            ClaudeSessionJson::Quiet => {}
        }
    }

    /// Sets the title, which one that the user gave outranks.
    fn title(&mut self, title: Text) {
        let is_outranked = self.memory.has_custom_title || self.memory.file_title.is_some();
        let title = Some(title).filter(|_| !is_outranked);
        self.cx.session(Session { title, ..Session::default() });
    }

    /// States the title of the session with a record that was not read yet, which is often in another log.
    fn title_of(&mut self, record: CorrId, title: Text) {
        if self.memory.remember(record.clone(), title.clone()) {
            let record_titles = Some(vec![RecordTitle { record, title }]);
            self.cx.session(Session { record_titles, ..Session::default() });
        }
    }

    /// Applies the author of a record. The directory of the session is the first one, since commands that change the
    /// directory also change the field.
    fn enter(&mut self, author: Author) {
        let Author { session_id, cwd, branch, version, is_sidechain, authority, .. } = author;
        let (agent_id, forked_from) = (author.agent_id, author.forked_from);
        let agent = agent_id.as_ref().filter(|_| is_sidechain).map(Text::decode);
        let known = self.cx.known();
        if known.session_id.is_none() && agent.is_some() {
            self.memory.is_agent_file = true;
        }
        let session_id = session_id.as_ref().map(Text::decode);
        let forked_from = forked_from.as_ref().map(Text::decode);
        let (session_id, parent) = match (&agent, self.memory.is_agent_file) {
            (Some(agent), true) => {
                let caller = self.file.caller.clone().or(session_id.as_deref().map(Into::into));
                let call = self.file.call.clone();
                (Some(&**agent), caller.map(|id| Parent::of_agent(id).with_call(call)))
            }
            (None, true) => (None, None),
            _ => (session_id.as_deref(), forked_from.as_deref().map(Parent::of_fork)),
        };
        let is_other =
            session_id.is_some() && known.session_id.as_ref().map(SessionId::as_str) != session_id;
        let version = version.filter(|version| known.version.as_ref() != Some(version));
        let cwd = cwd.filter(|_| is_other || known.cwd.is_none());
        let branch = branch.filter(|branch| is_other || known.branch.as_ref() != Some(branch));
        let started_at = self.cx.at.filter(|_| known.started_at.is_none());
        self.cx.parent = match &agent {
            Some(agent) => Some(CorrId::from(&**agent)),
            None if is_sidechain => self.open_agent(),
            None => None,
        };
        let has_news = version.is_some() || cwd.is_some() || branch.is_some();
        if is_other || has_news || authority.is_some() || started_at.is_some() {
            self.cx.session(Session {
                session_id: session_id.map(SessionId::from),
                parent: parent.map(Box::new),
                version,
                cwd,
                branch,
                authority: authority.map(Box::new),
                started_at,
                ..Session::default()
            });
        }
    }

    /// The oldest open call of a sub-agent: old releases do not state the call of a side chain.
    fn open_agent(&mut self) -> Option<CorrId> {
        let calls = self.cx.calls();
        self.memory.agents.retain(|agent| calls.get(agent).is_some());
        self.memory.agents.front().cloned()
    }

    /// Whether a message repeats, in tags, the command that the user has just typed.
    fn repeats_command(&mut self, message: &Message<'_>) -> bool {
        let [Block { kind: BlockKind::Text(Content { text, .. }), unknown }] = &*message.content
        else {
            return false;
        };
        let (_, words) = markup::read(text.clone());
        if words == *text {
            if text.begins_with("/") {
                self.memory.typed = self.cx.at.map(|at| (words, at));
            }
            return false;
        }
        let is_same = self.memory.typed.as_ref().is_some_and(|(typed, at)| {
            let pause = self.cx.at.and_then(|now| now.millis_since(*at));
            *typed == words && pause.is_some_and(|pause| pause < LONGEST_PAUSE_MS)
        });
        is_same && unknown.is_empty() && message.unknown.is_empty()
    }

    /// Counts the usage of a message that earlier lines did not state.
    fn count_usage(&mut self, message: &Message<'_>) {
        // Generated messages cost nothing.
        let usage = message.usage.filter(|_| !messages::is_synthetic(message));
        let more = usage.and_then(|usage| self.memory.usage.increase(message.id.as_ref(), usage));
        let Some(usage) = more else { return };
        // Other terms have other prices, so they are part of the name.
        let model = match (&message.model, &message.terms) {
            (Some(model), Some(terms)) => Some(format!("{model} {terms}").into()),
            (model, _) => model.clone(),
        };
        self.cx.usage_of_message(message.id.clone(), model.clone(), usage);
        let message_id = message.id.clone();
        let used = StatedUsage { message_id, model, at: self.cx.at, usage };
        self.memory.costs.note(used, self.cx.known().version.as_ref());
    }

    fn assistant(&mut self, message: Message<'_>, is_error: bool, is_main: bool, extra: Extra) {
        let synthetic = messages::is_synthetic(&message);
        if is_main && !synthetic {
            messages::model(message.model.clone(), self.cx);
        }
        for block in &message.content {
            if let BlockKind::ToolUse(call) = &block.kind
                && matches!(&*call.name, "Task" | "Agent" | "Workflow")
            {
                self.memory.costs.note_agent(self.cx.at);
                self.memory.agents.extend(call.id.clone());
            }
        }
        let agents = &mut self.memory.agents;
        agents.drain(..agents.len().saturating_sub(REMEMBERED));
        let entry_type = match (is_error, synthetic) {
            (true, _) => NormalizedEntryType::ErrorMessage,
            (false, true) => NormalizedEntryType::SystemMessage,
            (false, false) => NormalizedEntryType::AssistantMessage,
        };
        messages::assistant(message, &entry_type, extra, &mut |entry, _| Some(entry), self.cx);
    }

    fn progress(&mut self, call: Option<CorrId>, progress: Progress<'_>) {
        match (progress, call) {
            (Progress::Agent(message), call) => {
                self.cx.parent = call;
                self.agent_message(*message);
            }
            (Progress::Output(output), Some(call)) => self.output(&call, output),
            (Progress::Running, Some(call)) => self.cx.running(&call),
            (Progress::Output(_) | Progress::Running, None) | (Progress::Quiet, _) => {}
        }
    }

    fn agent_message(&mut self, message: AgentMessage<'_>) {
        let AgentMessage { by_model, message, detail, uuid, content, timestamp, unknown } = message;
        self.cx.at = timestamp.or(self.cx.at);
        let is_known = self.memory.knows(uuid, content);
        // In a repeated record, only the usage may be new.
        if !is_known || message.id.is_some() {
            self.count_usage(&message);
        }
        if is_known {
            return;
        }
        if let Some(call) = self.cx.parent.clone() {
            self.cx.running(&call);
        }
        let extra = self.cx.unknown_fields("agent_progress.message", &unknown);
        if by_model {
            self.assistant(message, false, false, extra);
        } else {
            let to = ToModel { detail, ..ToModel::default() };
            messages::user(message, to, extra, self.cx);
        }
    }

    /// Emits the output of a running command each time it has doubled, so that the total emitted is linear in the
    /// output.
    fn output(&mut self, call: &CorrId, output: Text) {
        let shown = self.cx.calls().get(call).and_then(NormalizedEntry::tool).map(|tool| {
            let shown = tool.action_type.result_text();
            shown.map_or(0, |shown| shown.decode().len())
        });
        if shown.is_none_or(|shown| output.is_empty() || output.decode().len() < 2 * shown) {
            return self.cx.running(call);
        }
        let show = |entry: &mut NormalizedEntry| {
            let Some(tool) = entry.tool_mut() else { return };
            tool.status = ToolStatus::InProgress;
            if let ActionType::CommandRun { result, .. } = &mut tool.action_type {
                result.get_or_insert_default().output = Some(output);
            }
        };
        self.cx.update(call, show);
    }
}

fn tree_record(object: &Object<'_>) -> Evidence {
    const OWN: [&str; 4] = ["isSidechain", "userType", "requestId", "toolUseResult"];
    // Forks of Gemini CLI write similar files, but their messages have parts.
    let message = nested(object, "message").unwrap_or_default();
    let is_theirs = message.has("parts") || object.has("systemPayload");
    let is_own = message.has("content") || object.has_any(&OWN);
    if is_own && !is_theirs { Evidence::Certain } else { Evidence::Possible }
}
