//! ATIF, the Agent Trajectory Interchange Format: documents of any agent, which other programs write, and `foldline export`.

mod entry;
mod types;

use std::{collections::VecDeque, sync::Arc};

use foldline::source::Opener;
use foldline_domain::DomainEvent;
use serde::{Deserialize, Serialize};

use self::types::{Item, Said, Trajectory};
use crate::{Documents, prelude::*};

/// A trajectory: one document, or one line of a dataset. Sub-agents are nested in it.
///
/// - A document that `foldline export` wrote has in `extra` what the format has no field for: its entries are those that
///   were exported, in their order.
/// - In any other document, the entries of a sub-agent follow the call that refers to it. A result has no status, and a call
///   without one ends as unfinished. Totals count if no step states tokens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Atif;

/// State between records, in addition to calls and facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AtifMemory {
    /// What sub-agents did, until its place comes.
    nested: VecDeque<Nested>,
    /// The tokens of the whole session, while no step has stated any.
    total: Option<TokenUsage>,
    has_metrics: bool,
    /// The model of the agent.
    model: Option<Text>,
}

/// An item of a sub-agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Nested {
    trajectory: CorrId,
    item: Item,
}

/// The end of a call: the whole entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended(NormalizedEntry);

impl CallResult for Ended {
    fn complete(self, call: &mut NormalizedEntry) {
        *call = self.0;
    }

    fn timestamp(&self) -> Option<Timestamp> {
        None
    }

    fn content(&self) -> Text {
        self.0.tool().and_then(|tool| tool.action_type.result_text()).unwrap_or_default()
    }
}

type Cx<'s> = Context<'s, Ended>;

impl Executor for Atif {
    const FORMAT: Format = Format::new("atif", "ATIF, trajectory", "atif");
    type Line<'a> = Box<Trajectory>;
    type Result = Ended;
    type Memory = AtifMemory;

    fn openers(&self) -> Vec<Arc<dyn Opener>> {
        vec![Arc::new(Documents {
            is_one: |_, fields| {
                let has = |name: &str| fields.iter().any(|field| field == name);
                has("schema_version") && has("agent") && has("steps")
            },
            recognised_by: &["schema_version", "session_id"],
            list: "steps",
            volatile: &[],
            line: 0,
        })]
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        let is_version = |version: Cow<'_, str>| version.starts_with("ATIF-");
        let version = object.get_str("schema_version");
        Evidence::certain_if(version.is_some_and(is_version) && object.has("steps"))
    }

    fn session<'a>(&self, object: &Object<'a>) -> Option<Cow<'a, str>> {
        object.get_str("session_id")
    }

    fn parse<'a>(
        &self,
        object: &mut Object<'a>,
        header: &mut Header<'a>,
    ) -> Parsed<Box<Trajectory>> {
        if self.recognise(object) != Evidence::Certain {
            return Parsed::Unknown;
        }
        header.name = "trajectory".into();
        Parsed::Line(Box::new(Trajectory::take(object)))
    }

    fn line(
        &self,
        trajectory: Box<Trajectory>,
        extra: Extra,
        memory: &mut AtifMemory,
        cx: &mut Cx<'_>,
    ) {
        let Trajectory { facts, is_own, rest, notes, total, usages, items, nested } = *trajectory;
        memory.model = memory.model.take().or_else(|| facts.model.clone());
        match is_own {
            // The changes of the model are among the entries.
            true => cx.facts.merge(cx.agent, facts, cx.events),
            false => cx.session(facts),
        }
        usages.into_iter().for_each(|used| used.tell(cx));
        let extra: Extra = extra.into_iter().chain(rest).collect();
        if let Some(notes) = notes.filter(|_| !is_own) {
            cx.entry(NormalizedEntryType::SystemMessage, notes, extra);
        } else if !extra.is_empty() {
            cx.entry(NormalizedEntryType::SystemMessage, "trajectory", extra);
        }
        memory.total = memory.total.or(total.filter(|_| !is_own));
        let nested = nested.into_iter().map(|(trajectory, item)| Nested { trajectory, item });
        memory.nested.extend(nested);
        memory.nested.make_contiguous().sort_by_key(|nested| nested.item.index);
        items.into_iter().for_each(|item| memory.tell(item, cx));
    }

    fn end(&self, memory: &mut AtifMemory, cx: &mut Cx<'_>) {
        while let Some(Nested { trajectory, item }) = memory.nested.pop_front() {
            memory.tell(item.of(&trajectory), cx);
        }
        if let Some(total) = memory.total.take().filter(|_| !memory.has_metrics) {
            cx.usage(total);
        }
        *memory = AtifMemory::default();
    }
}

impl AtifMemory {
    /// Tells an item, after what sub-agents did before it, and before what they did for it.
    fn tell(&mut self, item: Item, cx: &mut Cx<'_>) {
        let is_before =
            |nested: &Nested| nested.item.index.is_some() && nested.item.index < item.index;
        while let Some(Nested { trajectory, item }) =
            self.nested.front().is_some_and(is_before).then(|| self.nested.pop_front()).flatten()
        {
            self.tell(item.of(&trajectory), cx);
        }
        let Item { index: _, said, refers } = item;
        match said {
            Said::Usage(mut used) => {
                if used.model.is_none() && used.is_of_agent {
                    used.model.clone_from(&self.model);
                }
                self.has_metrics |= !used.usage.is_empty();
                used.tell(cx);
            }
            Said::Model(model) => {
                if cx.known().model.as_ref() != Some(&model) {
                    cx.session(Session { model: Some(model), ..Session::default() });
                }
            }
            Said::Entry(entry) if entry.tool().is_none() => cx.push(*entry),
            Said::Entry(entry) => {
                let id = entry.corr_id().cloned();
                tell_call(*entry, cx);
                // Of a document without indices.
                for trajectory in refers {
                    let is_its = |nested: &Nested| nested.trajectory == trajectory;
                    let (its, others) = std::mem::take(&mut self.nested)
                        .into_iter()
                        .partition(|nested| nested.item.index.is_none() && is_its(nested));
                    self.nested = others;
                    for Nested { item, .. } in Vec::from(its) {
                        self.tell(item.of(id.as_ref().unwrap_or(&trajectory)), cx);
                    }
                }
            }
        }
    }
}

/// A call, and its end at once, if it has one.
fn tell_call(entry: NormalizedEntry, cx: &mut Cx<'_>) {
    let mut call = entry.clone();
    let Some(tool) = call.tool_mut() else { return };
    let is_final = tool.status.is_final() && tool.status != ToolStatus::Unfinished;
    if tool.status == ToolStatus::Unfinished {
        tool.status = ToolStatus::Created;
    } else if is_final {
        tool.action_type.take_result();
        if let ActionType::CommandRun { result, .. } = &mut tool.action_type {
            *result = None;
        }
        (tool.status, tool.duration_ms) = (ToolStatus::Created, None);
        call.metadata_mut().images.clear();
    }
    let id = entry.corr_id().cloned();
    let is_new = id.as_ref().is_none_or(|id| !cx.calls.knows(id));
    cx.introduce();
    cx.calls.call(id.clone(), call, cx.limits, cx.events);
    if let (Some(id), true) = (id, is_final && is_new) {
        cx.result(id, Ended(entry));
    }
}

impl Item {
    /// The item, as one of a sub-agent.
    fn of(mut self, call: &CorrId) -> Self {
        if let Said::Entry(entry) = &mut self.said {
            entry.metadata_mut().parent_corr_id = Some(call.clone());
        }
        self
    }
}

impl types::Used {
    fn tell(self, cx: &mut Cx<'_>) {
        let Self { usage, model, message_id, timestamp, is_of_agent: _ } = self;
        if !usage.is_empty() {
            cx.introduce();
            let usage = Box::new(usage);
            cx.events.push(DomainEvent::Usage { usage, model, message_id, timestamp });
        }
    }
}
