//! [`Atif`]: a session that is collected, and rendered as a document.

use std::{collections::BTreeSet, convert::Infallible, sync::Arc};

use foldline::transduce::{Batch, Emitter};
use foldline_domain::{
    Conversation, CorrId, DomainEvent, Json, NormalizedEntry, Session, Summary, Text, TokenUsage,
    pricing::{Cost, CostBasis, Prices, Requests},
};

use crate::{
    content::{Picture, Pictures},
    document::{
        Agent, FinalMetrics, Metrics, Own, Rest, ToolDefinition, ToolFunction, Trajectory, Used,
        VERSION,
    },
    steps::Steps,
};

/// A session as a trajectory. It holds the conversation.
#[derive(Clone, Debug, Default)]
pub struct Atif {
    pub(crate) conversation: Conversation,
    /// Of each entry, whether a result came after the entry before it of the same agent.
    pub(crate) after_result: Vec<bool>,
    /// The agents that read a result since their last entry.
    answered: BTreeSet<Option<CorrId>>,
    pub(crate) usages: Vec<Used>,
    prices: Option<Arc<Prices>>,
    cost: Option<Cost>,
    note: Option<String>,
    folder: Option<String>,
}

impl Atif {
    /// Estimates the costs of steps that the log does not state.
    #[must_use]
    pub fn with_prices(self, prices: Arc<Prices>) -> Self {
        Self { prices: Some(prices), ..self }
    }

    /// Puts pictures into files of this folder, which is beside the document. Without one, the document contains them, as
    /// `data:` URLs.
    pub fn set_folder(&mut self, folder: impl Into<String>) {
        self.folder = Some(folder.into());
    }

    /// States the cost of the session, in place of the sum of the logged costs.
    pub fn set_cost(&mut self, cost: Cost) {
        self.cost = Some(cost);
    }

    /// Adds a note.
    pub fn set_note(&mut self, note: impl Into<String>) {
        self.note = Some(note.into());
    }

    /// Applies one event.
    pub fn apply(&mut self, event: &DomainEvent) {
        let before = self.conversation.entries.len();
        match event {
            DomainEvent::UpdateToolCall { entry, .. }
                if entry.tool().is_none_or(|tool| tool.status.is_final()) =>
            {
                self.answered.insert(agent_of(entry).cloned());
            }
            DomainEvent::Usage { usage, model, message_id, timestamp } => self.usages.push(Used {
                after: before,
                usage: **usage,
                model: model.clone(),
                message_id: message_id.clone(),
                timestamp: *timestamp,
            }),
            _ => {}
        }
        self.conversation.apply(event);
        if let Some(entry) = self.conversation.entries.get(before) {
            self.after_result.push(self.answered.remove(&agent_of(entry).cloned()));
        }
    }

    /// The document as JSON, and the pictures that belong beside it.
    ///
    /// # Errors
    /// As for [`foldline_json::to_string_pretty`].
    pub fn render(&self) -> Result<(String, Vec<Picture>), foldline_json::Error> {
        let mut pictures = Pictures { folder: self.folder.as_deref(), files: Vec::new() };
        let document = self.document(&mut pictures);
        Ok((foldline_json::to_string_pretty(&document)? + "\n", pictures.files))
    }

    fn document(&self, pictures: &mut Pictures<'_>) -> Trajectory {
        let Summary { session, usage, warnings } = &self.conversation.summary;
        let mut session = session.as_deref().cloned().unwrap_or_default();
        let agent = take_agent(&mut session);
        let session_id = session.session_id.take().map(|id| id.as_str().to_owned());
        let steps = Steps::new(self);
        let usages = steps.left().cloned().collect();
        let [root, subagents @ ..] = &*steps.trajectories else { return self.empty(agent) };
        let is_stated = session != Session::default();
        let summary = Summary {
            session: is_stated.then(|| Box::new(session)),
            usage: None,
            warnings: warnings.clone(),
        };
        let own = steps.steps(root, pictures);
        let final_metrics = usage.or(self.cost.map(|_| TokenUsage::default())).map(|usage| {
            let logged = usage.cost_usd.map(|usd| Cost { usd, basis: CostBasis::Logged });
            let Metrics { prompt_tokens, completion_tokens, cached_tokens, cost_usd, extra } =
                metrics(&usage, self.cost.or(logged));
            FinalMetrics {
                total_prompt_tokens: prompt_tokens,
                total_completion_tokens: completion_tokens,
                total_cached_tokens: cached_tokens,
                total_cost_usd: cost_usd,
                total_steps: own.len(),
                extra,
            }
        });
        let nested = subagents.iter().map(|planned| Trajectory {
            trajectory_id: planned.call.map(|call| call.as_str().to_owned()),
            session_id: planned.call.and_then(|call| steps.session_of(call)),
            agent: Agent { model_name: None, tool_definitions: None, ..agent.clone() },
            steps: steps.steps(planned, pictures),
            ..self.empty(agent.clone())
        });
        let subagent_trajectories = nested.collect();
        Trajectory {
            session_id,
            steps: own,
            notes: self.note.clone(),
            final_metrics,
            extra: Some(Own { foldline: Rest { summary, usages } }),
            subagent_trajectories,
            ..self.empty(agent)
        }
    }

    /// A trajectory without steps.
    fn empty(&self, agent: Agent) -> Trajectory {
        Trajectory {
            schema_version: VERSION,
            session_id: None,
            trajectory_id: None,
            agent,
            steps: Vec::new(),
            notes: None,
            final_metrics: None,
            extra: None,
            subagent_trajectories: Vec::new(),
        }
    }

    /// The metrics of a step with these usages.
    pub(crate) fn metrics(&self, usages: &[Used]) -> Option<Metrics> {
        let (mut sum, mut cost) = (TokenUsage::default(), None);
        for Used { usage, model, timestamp, .. } in usages {
            sum.add(usage);
            let logged = usage.cost_usd.map(|usd| Cost { usd, basis: CostBasis::Logged });
            let priced = || {
                let (prices, model) = self.prices.as_deref().zip(model.as_ref())?;
                prices.cost(&model.decode(), usage, Requests::One, *timestamp)
            };
            if let Some(one) = logged.or_else(priced) {
                cost = Some(cost.map_or(one, |sum: Cost| sum + one));
            }
        }
        (!usages.is_empty()).then(|| metrics(&sum, cost))
    }
}

fn metrics(usage: &TokenUsage, cost: Option<Cost>) -> Metrics {
    let tokens = [
        ("cache_write_tokens", usage.cache_write_tokens),
        ("cache_write_1h_tokens", usage.cache_write_1h_tokens),
        ("reasoning_tokens", usage.reasoning_tokens),
        ("web_searches", usage.web_searches),
    ];
    let tokens = tokens.into_iter().filter_map(|(name, n)| Some((name, Json::of(&n?).ok()?)));
    let cost = cost.filter(|cost| cost.usd.is_finite());
    let basis = cost.map(|cost| ("cost_basis", Json::from(Text::from(cost.basis.as_str()))));
    Metrics {
        prompt_tokens: usage.input_tokens,
        completion_tokens: usage.output_tokens,
        cached_tokens: usage.cache_read_tokens,
        cost_usd: cost.map(|cost| cost.usd),
        extra: tokens.chain(basis).collect(),
    }
}

/// Takes the facts of the agent.
fn take_agent(session: &mut Session) -> Agent {
    let unknown = || Text::from("unknown");
    let tool = |name| ToolDefinition { r#type: "function", function: ToolFunction { name } };
    Agent {
        name: session.agent.take().unwrap_or_else(unknown),
        version: session.version.take().unwrap_or_else(unknown),
        model_name: session.model.take(),
        tool_definitions: session.tools.take().map(|tools| tools.into_iter().map(tool).collect()),
    }
}

/// The call whose sub-agent produced an entry.
pub(crate) fn agent_of(entry: &NormalizedEntry) -> Option<&CorrId> {
    entry.metadata.as_ref()?.parent_corr_id.as_ref()
}

/// Emits nothing: the document is [`render`](Atif::render)ed at the end.
impl Emitter<DomainEvent, Infallible> for Atif {
    fn emit(&mut self, event: &DomainEvent) -> Batch<Infallible> {
        self.apply(event);
        Batch::EMPTY
    }
}
