//! The records of the format.

use serde::{Deserialize, Serialize};

use super::entry::{self, EntryRest, Parts};
use crate::{action::command_run, dialect::usage::take_counters, prelude::*};

/// A document, or some steps of it.
#[derive(Debug, Default)]
pub struct Trajectory {
    pub(super) facts: Session,
    /// Whether `foldline export` wrote it.
    pub(super) is_own: bool,
    /// Fields without an equivalent.
    pub(super) rest: Extra,
    pub(super) notes: Option<Text>,
    /// The tokens of the whole session.
    pub(super) total: Option<TokenUsage>,
    /// Usage that belongs to no step.
    pub(super) usages: Vec<Used>,
    pub(super) items: Vec<Item>,
    /// The items of sub-agents, with the ids of their trajectories.
    pub(super) nested: Vec<(CorrId, Item)>,
}

/// Something in a step, or in the step of a sub-agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Item {
    /// The index of its entry, if it is stated.
    pub(super) index: Option<u64>,
    pub(super) said: Said,
    /// The trajectories that the result of the call refers to.
    pub(super) refers: Vec<CorrId>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Said {
    Entry(Box<NormalizedEntry>),
    Usage(Used),
    /// The model of the entries behind it.
    Model(Text),
}

/// Tokens that were used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Used {
    #[serde(flatten)]
    pub(super) usage: TokenUsage,
    pub(super) model: Option<Text>,
    pub(super) message_id: Option<Text>,
    pub(super) timestamp: Option<Timestamp>,
    /// Whether the model of the agent is meant where none is stated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_of_agent: bool,
}

/// What `foldline export` adds to a step.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct StepRest {
    reasoning: Option<EntryRest>,
    message: Option<EntryRest>,
    usages: Vec<Used>,
}

/// What `foldline export` adds to a document.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Rest {
    session: Session,
    usages: Vec<Used>,
}

/// The result of a call.
#[derive(Default)]
struct Answer {
    content: Option<Parts>,
    refers: Vec<CorrId>,
    child: Option<SessionId>,
    extra: Extra,
}

/// The names of the counters: ours and those of other programs.
const COUNTERS: [&str; 5] = [
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
];

impl Trajectory {
    pub(super) fn take(object: &mut Object<'_>) -> Self {
        object.ignore(&["schema_version", "trajectory_id"]);
        let mut own = None;
        let mut rest = take_extra(object, |nested| own = nested.take("foldline", value::parse));
        let is_own = own.is_some();
        let Rest { session, usages } = own.unwrap_or_default();
        let mut facts = session;
        facts.session_id = object.str("session_id").map(SessionId::from);
        let is_known = |text: &Text| *text != "unknown";
        object.within("agent", |agent| {
            facts.agent = agent.text("name").filter(is_known);
            facts.version = agent.text("version").filter(is_known);
            facts.model = agent.text("model_name");
            let tools = agent.array("tool_definitions");
            facts.tools = tools.map(|tools| tools.into_iter().filter_map(tool_name).collect());
            rest.extend(agent.extra(&["extra"]));
        });
        let total = object.within("final_metrics", |metrics| {
            metrics.ignore(&["total_steps", "extra"]);
            TokenUsage {
                cost_usd: metrics.f64("total_cost_usd"),
                ..take_counters(
                    metrics,
                    [
                        "total_prompt_tokens",
                        "total_completion_tokens",
                        "total_cached_tokens",
                        "",
                        "",
                    ],
                )
            }
        });
        rest.extend(object.extra(&["continued_trajectory_ref"]));
        let mut nested = Vec::new();
        object.within_each("subagent_trajectories", |object| {
            let id = object.corr_id("trajectory_id").unwrap_or_else(|| CorrId::from(""));
            let part = Self::take(object);
            nested.extend(part.items.into_iter().map(|item| (id.clone(), item)));
            nested.extend(part.nested);
            let notes = part.notes.map(|notes| ("notes".to_owned(), Json::from(notes)));
            let more = part.rest.into_iter().chain(notes);
            rest.extend(more.map(|(name, value)| (format!("subagent.{name}"), value)));
        });
        let mut items = Vec::new();
        object.within_each("steps", |step| take_step(step, facts.model.as_ref(), &mut items));
        let notes = object.text("notes");
        Self { facts, is_own, rest, notes, total, usages, items, nested }
    }
}

/// Takes the field `extra`, of which `read` takes something.
fn take_extra<'a>(object: &mut Object<'a>, read: impl FnOnce(&mut Object<'a>)) -> Extra {
    let Some(mut nested) = object.object("extra") else { return object.extra(&["extra"]) };
    read(&mut nested);
    nested.into_extra().map(|(name, value)| (format!("extra.{name}"), value)).collect()
}

fn tool_name(raw: Raw<'_>) -> Option<Text> {
    let mut tool = value::object(raw)?;
    tool.object("function")
        .and_then(|mut function| function.text("name"))
        .or_else(|| tool.text("name"))
}

/// Takes a step; the model of the agent is that of a step which states none.
fn take_step(step: &mut Object<'_>, of_agent: Option<&Text>, items: &mut Vec<Item>) {
    step.ignore(&["step_id"]);
    let mut own: Option<StepRest> = None;
    let mut extra = take_extra(step, |nested| own = nested.take("foldline", value::parse));
    let at = step.timestamp("timestamp");
    let source = step.str("source").unwrap_or_default();
    let kind = match &*source {
        "user" => NormalizedEntryType::UserMessage,
        "agent" => NormalizedEntryType::AssistantMessage,
        _ => NormalizedEntryType::SystemMessage,
    };
    if !["user", "agent", "system"].contains(&&*source) {
        extra.push(("source".to_owned(), Json::from(Text::from(source))));
    }
    let is_own = own.is_some();
    let StepRest { reasoning, message, usages } = own.unwrap_or_default();
    let model = step.text("model_name");
    let thoughts = step.text("reasoning_content");
    let content = step.take("message", Parts::read).unwrap_or_default();
    let used = step.within("metrics", |metrics| take_metrics(metrics, &mut extra));
    let further = step.extra(&["reasoning_effort", "llm_call_count", "is_copied_context"]);
    let mut calls = Vec::new();
    step.within_each("tool_calls", |call| calls.push(take_call(call, at)));
    let mut answers = Vec::new();
    step.within("observation", |observation| {
        observation.within_each("results", |result| answers.push(take_answer(result)));
    });
    let mut tell = |entry: NormalizedEntry, index: Option<u64>, refers: Vec<CorrId>| {
        items.push(Item { index, said: Said::Entry(Box::new(entry)), refers });
    };
    if is_own {
        let thoughts = reasoning.zip(thoughts).map(|(rest, text)| {
            (rest.entry, rest.restore(NormalizedEntryType::Thinking, at, Parts::from(text)))
        });
        let said = message.map(|rest| (rest.entry, rest.restore(kind, at, content)));
        thoughts
            .into_iter()
            .chain(said)
            .for_each(|(index, entry)| tell(entry, Some(index), vec![]));
    } else {
        extra.extend(further);
        let new = |kind, parts: Parts| entry::new(kind, at, parts.content());
        let mut said: Vec<_> = thoughts
            .map(|text| new(NormalizedEntryType::Thinking, text.into()))
            .into_iter()
            .collect();
        if !content.is_empty() || calls.is_empty() && said.is_empty() {
            said.push(new(kind, content));
        }
        if let Some(first) = said.first_mut().filter(|_| !extra.is_empty()) {
            first.metadata_mut().extra.extend(std::mem::take(&mut extra));
        }
        said.into_iter().for_each(|entry| tell(entry, None, vec![]));
    }
    for (id, mut entry, rest) in calls {
        let found = answers.iter().position(|(of, _)| of.is_some() && *of == id);
        let answer = found.map(|at| answers.remove(at).1).unwrap_or_default();
        let (index, refers) = (rest.as_ref().map(|rest| rest.entry), answer.refers.clone());
        match rest {
            Some(rest) => rest.complete(&mut entry, answer.content),
            None => {
                let further = answer.extra.into_iter().chain(std::mem::take(&mut extra));
                entry::end(&mut entry, answer.content, answer.child, further.collect());
            }
        }
        tell(entry, index, refers);
    }
    // Results of no call.
    for (of, Answer { content, mut extra, .. }) in answers {
        extra.extend(
            of.map(|of| ("source_call_id".to_owned(), Json::from(Text::from(of.as_str())))),
        );
        let content = content.unwrap_or_default().content();
        let mut entry = entry::new(NormalizedEntryType::SystemMessage, at, content);
        if !extra.is_empty() {
            entry.metadata_mut().extra.extend(extra);
        }
        tell(entry, None, vec![]);
    }
    let index = items.last().and_then(|item| item.index);
    let used = match is_own {
        true => usages,
        false => {
            let used = used.map(|usage| Used {
                usage,
                model: model.clone().or_else(|| of_agent.cloned()),
                timestamp: at,
                is_of_agent: true,
                ..Used::default()
            });
            let said = model.map(Said::Model);
            let first =
                items.len() - items.iter().rev().take_while(|item| item.index.is_none()).count();
            said.into_iter()
                .for_each(|said| items.insert(first, Item { index: None, said, refers: vec![] }));
            used.into_iter().collect()
        }
    };
    let used = used.into_iter().map(Said::Usage);
    items.extend(used.map(|said| Item { index, said, refers: vec![] }));
}

fn take_metrics(metrics: &mut Object<'_>, extra: &mut Extra) -> TokenUsage {
    let mut further = metrics.object("extra").unwrap_or_default();
    let is_estimated = further.str("cost_basis").is_some_and(|basis| basis != "logged");
    let [.., written, reasoning] = COUNTERS;
    let more = take_counters(&mut further, ["", "", "", written, reasoning]);
    let cost = metrics.f64("cost_usd").filter(|_| !is_estimated);
    let stated = take_counters(metrics, COUNTERS);
    extra.extend(further.into_extra().map(|(name, value)| (format!("metrics.{name}"), value)));
    let lists = metrics.extra(&["prompt_token_ids", "completion_token_ids", "logprobs"]);
    extra.extend(lists.into_iter().map(|(name, value)| (format!("metrics.{name}"), value)));
    TokenUsage {
        cache_write_tokens: more.cache_write_tokens,
        reasoning_tokens: more.reasoning_tokens,
        cost_usd: cost,
        ..stated
    }
}

type Call = (Option<CorrId>, NormalizedEntry, Option<EntryRest>);

fn take_call(call: &mut Object<'_>, at: Option<Timestamp>) -> Call {
    let mut own: Option<EntryRest> = None;
    let extra = take_extra(call, |nested| own = nested.take("foldline", value::parse));
    let id = call.corr_id("tool_call_id");
    let name = call.str("function_name").unwrap_or_default();
    let arguments = call.raw("arguments");
    let restored = own.as_ref().and_then(|rest| rest.restore_call(&name, arguments, at));
    let is_own = restored.is_some();
    let mut entry = restored.unwrap_or_else(|| {
        let mapped = MappedCall::of(
            &name,
            arguments,
            || true,
            |given| {
                let is_shell =
                    ["bash", "Bash", "bash_command", "execute_bash", "shell", "terminal"];
                let command = ["command", "keystrokes"].into_iter().find(|name| given.has(name));
                let command = command.filter(|_| is_shell.contains(&&*name))?;
                Some(command_run(Some(given.text(command)?)))
            },
        );
        mapped.into_entry(&name).at(at)
    });
    if !extra.is_empty() {
        entry.metadata_mut().extra.extend(extra);
    }
    entry.metadata_mut().corr_id = id.clone();
    (id, entry, own.filter(|_| is_own))
}

fn take_answer(result: &mut Object<'_>) -> (Option<CorrId>, Answer) {
    let mut answer = Answer {
        content: result.take("content", Parts::read),
        extra: take_extra(result, |_| {}),
        ..Answer::default()
    };
    result.within_each("subagent_trajectory_ref", |refers| {
        answer.refers.extend(refers.corr_id("trajectory_id"));
        answer.child = refers.str("session_id").map(SessionId::from).or(answer.child.take());
        answer.extra.extend(refers.extra(&["trajectory_path", "extra"]));
    });
    (result.corr_id("source_call_id"), answer)
}
