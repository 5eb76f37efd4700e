//! [`Steps`]: the entries of a session as steps of trajectories.

use std::collections::HashMap;

use foldline_domain::{
    ActionType, CorrId, Extra, Image, Json, Metadata, NormalizedEntry, NormalizedEntryType, Text,
    Timestamp, ToolResult, ToolStatus, ToolUse,
};
use serde::Serialize;

use crate::{
    content::{Content, Pictures},
    document::{
        EntryRest, Observation, ObservationResult, Own, Step, StepRest, SubagentRef, ToolCall, Used,
    },
    emitter::{Atif, agent_of},
};

/// The steps of a session, before they are written.
pub(crate) struct Steps<'a> {
    session: &'a Atif,
    /// The session itself, then its sub-agents in the order of their first entries.
    pub(crate) trajectories: Vec<Planned<'a>>,
    /// The calls by their ids.
    calls: HashMap<&'a CorrId, usize>,
    /// Usage that belongs to no step.
    left: Vec<&'a Used>,
}

/// A trajectory, before it is written.
#[derive(Default)]
pub(crate) struct Planned<'a> {
    /// The call that started the sub-agent.
    pub(crate) call: Option<&'a CorrId>,
    steps: Vec<PlannedStep<'a>>,
}

/// The entries of a step, by their indices.
#[derive(Default)]
struct PlannedStep<'a> {
    is_agent: bool,
    reasoning: Option<usize>,
    message: Option<usize>,
    calls: Vec<usize>,
    message_id: Option<&'a Text>,
    model: Option<&'a Text>,
    usages: Vec<Used>,
}

/// The type of a call without its name, its arguments and its result.
#[derive(Serialize)]
struct CallRest<'c> {
    action_type: Extra,
    status: &'c ToolStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(session: &'a Atif) -> Self {
        let trajectories = vec![Planned::default()];
        let mut steps = Self { session, trajectories, calls: HashMap::new(), left: Vec::new() };
        let mut places = HashMap::from([(None, 0)]);
        // The last step with each message, and the steps of the agent itself after their first entries.
        let (mut messages, mut own) = (HashMap::new(), Vec::new());
        let mut model = None;
        for (index, entry) in session.conversation.entries.iter().enumerate() {
            let agent = agent_of(entry);
            let place = *places.entry(agent).or_insert_with(|| {
                steps.trajectories.push(Planned { call: agent, steps: Vec::new() });
                steps.trajectories.len() - 1
            });
            if let (Some(_), Some(id)) = (entry.tool(), entry.corr_id()) {
                steps.calls.entry(id).or_insert(index);
            }
            if let (NormalizedEntryType::ModelChange { model: new }, None) =
                (&entry.entry_type, agent)
            {
                model = Some(new);
            }
            let Some(planned) = steps.trajectories.get_mut(place) else { continue };
            let is_after = session.after_result.get(index).copied().unwrap_or_default();
            planned.add(index, entry, is_after);
            let at = planned.steps.len() - 1;
            let Some(step) = planned.steps.last_mut().filter(|step| step.is_agent) else {
                continue;
            };
            let known = entry.metadata.as_ref();
            step.model = step.model.or_else(|| known?.model.as_ref());
            step.model = step.model.or(model.filter(|_| agent.is_none()));
            if let Some(id) = step.message_id {
                messages.insert(id, (place, at));
            }
            if agent.is_none() && own.last().is_none_or(|(_, last)| *last != at) {
                own.push((index, at));
            }
        }
        for used in &session.usages {
            let by_message = used.message_id.as_ref().and_then(|id| messages.get(id).copied());
            let before = own.partition_point(|(first, _)| *first < used.after);
            let by_place = || Some((0, own.get(before.saturating_sub(1))?.1));
            let place = by_message.or_else(by_place).filter(|_| used.is_of_request());
            let step =
                place.and_then(|(place, at)| steps.trajectories.get_mut(place)?.steps.get_mut(at));
            match step {
                Some(step) => step.usages.push(used.clone()),
                None => steps.left.push(used),
            }
        }
        steps
    }

    /// Usage that belongs to no step.
    pub(crate) fn left(&self) -> impl Iterator<Item = &Used> {
        self.left.iter().copied()
    }

    /// The session that a call started, if the log states it.
    pub(crate) fn session_of(&self, call: &CorrId) -> Option<String> {
        let entry = self.session.conversation.entries.get(*self.calls.get(call)?)?;
        let id = entry.metadata.as_ref()?.child_session_id.as_ref()?;
        Some(id.as_str().to_owned())
    }

    /// The steps of a trajectory. A trajectory has at least one.
    pub(crate) fn steps(&self, planned: &Planned<'a>, pictures: &mut Pictures<'_>) -> Vec<Step> {
        let steps = planned.steps.iter().zip(1..);
        let mut steps: Vec<_> = steps.map(|(step, id)| self.step(id, step, pictures)).collect();
        if steps.is_empty() {
            steps.push(self.step(1, &PlannedStep::default(), pictures));
        }
        steps
    }

    fn step(&self, step_id: usize, planned: &PlannedStep<'a>, pictures: &mut Pictures<'_>) -> Step {
        let entry = |index: usize| Some((index, &**self.session.conversation.entries.get(index)?));
        let reasoning = planned.reasoning.and_then(entry);
        let message = planned.message.and_then(entry);
        let calls: Vec<_> = planned.calls.iter().copied().filter_map(entry).collect();
        let first = reasoning.or(message).or(calls.first().copied());
        let at = first.and_then(|(_, entry)| entry.timestamp).filter(|at| iso(*at).is_some());
        let source = match message.map(|(_, entry)| &entry.entry_type) {
            _ if planned.is_agent => "agent",
            Some(NormalizedEntryType::UserMessage) => "user",
            _ => "system",
        };
        let (mut content, mut rest) = (Content::Text(Text::default()), StepRest::default());
        if let Some((index, entry)) = message {
            let of = EntryRest::new(index, entry, at);
            let (parts, images) = pictures.content(&entry.content, images(entry));
            let is_stated = matches!(
                entry.entry_type,
                NormalizedEntryType::UserMessage
                    | NormalizedEntryType::SystemMessage
                    | NormalizedEntryType::AssistantMessage
            );
            let entry_type = (!is_stated).then(|| Json::of(&entry.entry_type).ok()).flatten();
            content = parts;
            rest.message = Some(EntryRest { entry_type, images, ..of });
        }
        rest.reasoning = reasoning.map(|(index, entry)| EntryRest {
            // There are no parts in reasoning.
            images: images(entry).iter().filter_map(|image| Json::of(image).ok()).collect(),
            ..EntryRest::new(index, entry, at)
        });
        let mut observation = Observation::default();
        let tool_calls = calls.into_iter().filter_map(|(index, entry)| {
            let (call, result) = self.call(EntryRest::new(index, entry, at), entry, pictures)?;
            observation.results.extend(result);
            Some(call)
        });
        let tool_calls: Vec<_> = tool_calls.collect();
        let mut requests: Vec<_> = planned.usages.iter().map(|used| &used.message_id).collect();
        requests.dedup_by(|a, b| a.is_some() && a == b);
        rest.usages.clone_from(&planned.usages);
        Step {
            step_id,
            timestamp: at.and_then(iso),
            source,
            model_name: planned.model.cloned(),
            message: content,
            reasoning_content: reasoning.map(|(_, entry)| entry.content.clone()),
            tool_calls,
            observation: Some(observation).filter(|observation| !observation.results.is_empty()),
            metrics: self.session.metrics(&planned.usages),
            llm_call_count: Some(requests.len()).filter(|requests| *requests > 1),
            extra: Own { foldline: rest },
        }
    }

    /// A call and its result.
    fn call(
        &self,
        rest: EntryRest,
        entry: &NormalizedEntry,
        pictures: &mut Pictures<'_>,
    ) -> Option<(ToolCall, Option<ObservationResult>)> {
        let ToolUse { tool_name, mut action_type, status, duration_ms } = entry.tool()?.clone();
        let result = action_type.take_result();
        let (arguments, action_type) = parted(&action_type)?;
        let entry_type = Json::of(&CallRest { action_type, status: &status, duration_ms }).ok();
        let is_json = matches!(result, Some(ToolResult::Json(_)));
        let result = result.map(|result| pictures.content(&result.into_text(), images(entry)));
        let (content, images) = match result {
            Some((content, images)) => (Some(content), images),
            None => (None, images(entry).iter().filter_map(|image| Json::of(image).ok()).collect()),
        };
        let content_of = Some(entry.content.clone());
        let foldline = EntryRest { entry_type, content: content_of, is_json, images, ..rest };
        let id = entry.corr_id().map(CorrId::as_str).unwrap_or_default().to_owned();
        let has_agent =
            |planned: &Planned<'_>| planned.call.is_some_and(|call| Some(call) == entry.corr_id());
        let subagent = self.trajectories.iter().any(has_agent).then(|| SubagentRef {
            trajectory_id: id.clone(),
            session_id: entry.corr_id().and_then(|id| self.session_of(id)),
        });
        let result = (content.is_some() || subagent.is_some()).then(|| ObservationResult {
            source_call_id: id.clone(),
            content,
            subagent_trajectory_ref: subagent.map(|subagent| [subagent]),
        });
        let function_name = tool_name;
        let call = ToolCall { tool_call_id: id, function_name, arguments, extra: Own { foldline } };
        Some((call, result))
    }
}

impl<'a> Planned<'a> {
    /// Adds an entry to the last step, or begins one.
    fn add(&mut self, index: usize, entry: &'a NormalizedEntry, is_after_result: bool) {
        use NormalizedEntryType as Type;
        let id = entry.metadata.as_ref().and_then(|known| known.message_id.as_ref());
        let is_agent =
            matches!(entry.entry_type, Type::Thinking | Type::AssistantMessage | Type::ToolUse(_));
        let fits = |step: &&mut PlannedStep<'a>| {
            let is_next = match &entry.entry_type {
                Type::ToolUse(_) => true,
                Type::AssistantMessage => step.message.is_none() && step.calls.is_empty(),
                _ => false,
            };
            let is_of_message = match (step.message_id, id) {
                (Some(known), Some(id)) => known == id,
                _ => !is_after_result,
            };
            step.is_agent && is_next && is_of_message
        };
        if self.steps.last_mut().filter(fits).is_none() {
            self.steps.push(PlannedStep { is_agent, ..PlannedStep::default() });
        }
        let Some(step) = self.steps.last_mut() else { return };
        step.message_id = step.message_id.or(id);
        match entry.entry_type {
            Type::Thinking => step.reasoning = Some(index),
            Type::ToolUse(_) => step.calls.push(index),
            _ => step.message = Some(index),
        }
    }
}

impl EntryRest {
    /// What a step at this time does not state of an entry.
    fn new(entry: usize, of: &NormalizedEntry, at: Option<Timestamp>) -> Self {
        let known = of.metadata.as_deref();
        let timestamp = (of.timestamp != at).then(|| Json::of(&of.timestamp).ok()).flatten();
        let metadata = known.and_then(|known| {
            let Metadata { corr_id, parent_corr_id: _, images: _, .. } = known;
            let Metadata { child_session_id, message_id, model, inferred, extra, .. } = known;
            let metadata = Metadata {
                corr_id: corr_id.clone().filter(|_| of.tool().is_none()),
                parent_corr_id: None,
                child_session_id: child_session_id.clone(),
                message_id: message_id.clone(),
                model: model.clone(),
                inferred: *inferred,
                images: Vec::new(),
                extra: extra.clone(),
            };
            (metadata != Metadata::default()).then(|| Json::of(&metadata).ok()).flatten()
        });
        Self { entry, timestamp, metadata, ..Self::default() }
    }
}

fn images(entry: &NormalizedEntry) -> &[Image] {
    entry.metadata.as_ref().map_or(&[], |known| &known.images)
}

/// The arguments of an action, and the rest of it. An object is the arguments of any other tool.
fn parted(action: &ActionType) -> Option<(Json, Extra)> {
    let is_object = |value: &Json| value.get().trim_start().starts_with('{');
    let fields: Extra = serde_json::from_str(Json::of(action).ok()?.get()).ok()?;
    let fields = fields.into_iter();
    if let ActionType::Tool { arguments, .. } = action {
        let given = arguments.clone().filter(is_object);
        let none = given.is_none().then(|| Json::of(&false).ok()).flatten();
        let none = none.map(|none| ("has_arguments".into(), none));
        let rest = fields.filter(|(name, _)| &**name != "arguments" || given.is_none());
        let rest = rest.chain(none).collect();
        return Some((
            given.unwrap_or_else(|| Json::of(&Extra::default()).unwrap_or_default()),
            rest,
        ));
    }
    let is_rest = |(name, _): &(Box<str>, Json)| ["action", "result"].contains(&&**name);
    let (rest, arguments): (Vec<_>, Vec<_>) = fields.partition(is_rest);
    Some((Json::of(&arguments.into_iter().collect::<Extra>()).ok()?, rest.into_iter().collect()))
}

/// A time in ISO 8601, of the years 1 to 9999.
fn iso(at: Timestamp) -> Option<String> {
    let years = -62_135_596_800_000..253_402_300_800_000;
    let millis = Some(at.as_millis()).filter(|millis| years.contains(millis))?;
    Some(jiff::Timestamp::from_millisecond(millis).ok()?.to_string())
}
