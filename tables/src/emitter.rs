//! [`SessionRows`]: the events of a session as rows; [`UsageRow`]: a row of usage.

use std::{collections::BTreeMap, sync::Arc};

use foldline::transduce::{Batch, Emitter};
use foldline_domain::{
    ActionType, CommandExitStatus, CommandRunResult, CorrId, DomainEvent, Json, NormalizedEntry,
    Session, Text, Timestamp, TokenUsage,
    pricing::{Cost, CostBasis},
};

use crate::columns::{Row, Table, Value};

/// Converts the events of a session into rows. It holds the open entries.
///
/// Each report of tokens is a row of usage. Who counts a message once over several logs, or estimates costs, leaves these
/// rows out and makes their own: [`UsageRow`].
#[derive(Clone, Debug, Default)]
pub struct SessionRows {
    session: Option<Text>,
    facts: Session,
    entries: i64,
    calls: i64,
    warnings: i64,
    open: BTreeMap<CorrId, (i64, Arc<NormalizedEntry>)>,
}

/// A row of usage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageRow {
    /// The session in which it is counted.
    pub session: Option<Text>,
    /// The session that a person began.
    pub root_session: Option<Text>,
    /// The time of use.
    pub timestamp: Option<Timestamp>,
    /// The model.
    pub model: Option<Text>,
    /// The message.
    pub message_id: Option<Text>,
    /// The tokens.
    pub usage: TokenUsage,
    /// The cost, if it is known.
    pub cost: Option<Cost>,
}

impl SessionRows {
    /// The rows of a session. Without a name, it has the id that its log states; rows before that have none.
    pub fn new(session: Option<Text>) -> Self {
        Self { session, ..Self::default() }
    }

    fn number(&mut self) -> i64 {
        self.entries += 1;
        self.entries - 1
    }

    fn open(&mut self, id: &CorrId, entry: &Arc<NormalizedEntry>, rows: &mut Batch<Row>) {
        let number = self.number();
        let before = self.open.insert(id.clone(), (number, Arc::clone(entry)));
        before.into_iter().for_each(|(number, entry)| self.tell(number, &entry, rows));
    }

    fn close(&mut self, id: &CorrId, rows: &mut Batch<Row>) {
        let closed = self.open.remove(id);
        closed.into_iter().for_each(|(number, entry)| self.tell(number, &entry, rows));
    }

    /// The row of an entry, and that of its call.
    fn tell(&mut self, number: i64, entry: &NormalizedEntry, rows: &mut Batch<Row>) {
        let known = entry.metadata.as_deref().cloned().unwrap_or_default();
        let corr_id = id(known.corr_id.as_ref());
        let parent = id(known.parent_corr_id.as_ref());
        let images = Some(known.images.len()).filter(|number| *number > 0);
        let extra = (!known.extra.is_empty()).then(|| json(&known.extra)).flatten();
        let values = vec![
            text(&self.session),
            Value::Integer(number),
            time(entry.timestamp),
            Value::Text(entry.entry_type.name().into()),
            Value::Text(entry.content.clone()),
            corr_id.clone(),
            parent.clone(),
            text(&known.message_id),
            text(&known.model),
            integer(images.and_then(|number| u64::try_from(number).ok())),
            text(&extra),
        ];
        rows.push(Row { table: Table::Entries, values });
        let Some(tool) = entry.tool() else { return };
        self.calls += 1;
        let result = tool.action_type.result_text();
        let exit_code = match &tool.action_type {
            ActionType::CommandRun {
                result: Some(CommandRunResult { exit_status: Some(status), .. }),
                ..
            } => match status {
                CommandExitStatus::ExitCode { code } => Some(*code),
                CommandExitStatus::Success { .. } => None,
            },
            _ => None,
        };
        let mut action = tool.action_type.clone();
        action.take_result();
        if let ActionType::CommandRun { result, .. } = &mut action {
            *result = None;
        }
        let values = vec![
            text(&self.session),
            Value::Integer(number),
            time(entry.timestamp),
            corr_id,
            parent,
            known.child_session_id.map_or(Value::Null, |id| Value::Text(id.as_str().into())),
            text(&known.message_id),
            Value::Text(tool.tool_name.clone()),
            Value::Text(action.name().into()),
            Value::Text(entry.content.clone()),
            Value::Text(tool.status.name().into()),
            text(&json(&action)),
            text(&result),
            exit_code.map_or(Value::Null, |code| Value::Integer(code.into())),
            integer(tool.duration_ms),
        ];
        rows.push(Row { table: Table::Calls, values });
    }

    /// The row of the session.
    fn row(&self) -> Row {
        let mut rest = self.facts.clone();
        let parent = rest.parent.take();
        let relation = parent.as_ref().map(|parent| Text::from(parent.relation.as_str()));
        let values = vec![
            text(&self.session),
            text(&rest.agent.take()),
            text(&rest.version.take()),
            text(&rest.model.take()),
            text(&rest.provider.take()),
            text(&rest.title.take()),
            text(&rest.cwd.take()),
            text(&rest.branch.take()),
            text(&parent.map(|parent| Text::from(parent.session_id.as_str()))),
            text(&relation),
            time(rest.started_at.take()),
            time(rest.ended_at.take()),
            integer(rest.duration_ms.take()),
            text(&rest.outcome.take().map(|outcome| Text::from(outcome.as_str()))),
            text(&rest.outcome_reason.take()),
            integer(rest.turns.take()),
            Value::Integer(self.entries),
            Value::Integer(self.calls),
            Value::Integer(self.warnings),
        ];
        // The agent's id, unless it is the name of the session.
        let id = rest.session_id.as_ref().map(|id| Text::from(id.as_str()));
        rest.session_id = rest.session_id.take().filter(|_| id != self.session);
        let rest = (rest != Session::default()).then(|| json(&rest)).flatten();
        let values = values.into_iter().chain([text(&rest)]).collect();
        Row { table: Table::Sessions, values }
    }
}

impl Emitter<DomainEvent, Row> for SessionRows {
    fn emit(&mut self, event: &DomainEvent) -> Batch<Row> {
        let mut rows = Batch::EMPTY;
        match event {
            DomainEvent::Session(facts) => {
                self.facts.merge(facts);
                let id = self.facts.session_id.as_ref().map(|id| id.as_str().into());
                self.session = self.session.take().or(id);
            }
            DomainEvent::NewEntry { entry } => {
                let number = self.number();
                self.tell(number, entry, &mut rows);
            }
            DomainEvent::OpenEntry { corr_id, entry }
            | DomainEvent::NewToolCall { corr_id, entry } => self.open(corr_id, entry, &mut rows),
            DomainEvent::GrowEntry { corr_id, text } => {
                if let Some((_, entry)) = self.open.get_mut(corr_id) {
                    Arc::make_mut(entry).content.push(text);
                }
            }
            DomainEvent::CloseEntry { corr_id, entry: whole } => {
                if let (Some((_, entry)), Some(whole)) = (self.open.get_mut(corr_id), whole) {
                    *entry = Arc::clone(whole);
                }
                self.close(corr_id, &mut rows);
            }
            DomainEvent::UpdateToolCall { corr_id, entry: whole } => {
                if let Some((_, entry)) = self.open.get_mut(corr_id) {
                    *entry = Arc::clone(whole);
                }
                if whole.tool().is_none_or(|tool| tool.status.is_final()) {
                    self.close(corr_id, &mut rows);
                }
            }
            DomainEvent::Usage { usage, model, message_id, timestamp } => {
                let logged = usage.cost_usd.map(|usd| Cost { usd, basis: CostBasis::Logged });
                let row = UsageRow {
                    session: self.session.clone(),
                    root_session: None,
                    timestamp: *timestamp,
                    model: model.clone(),
                    message_id: message_id.clone(),
                    usage: **usage,
                    cost: logged,
                };
                rows.push(row.into());
            }
            DomainEvent::Warning(_) => self.warnings += 1,
            DomainEvent::SessionEnded => {}
        }
        rows
    }

    fn finish(&mut self) -> Batch<Row> {
        let mut rows = Batch::EMPTY;
        for (number, entry) in std::mem::take(&mut self.open).into_values() {
            self.tell(number, &entry, &mut rows);
        }
        rows.push(self.row());
        rows
    }
}

impl From<UsageRow> for Row {
    fn from(row: UsageRow) -> Self {
        let UsageRow { session, root_session, timestamp, model, message_id, usage, cost } = row;
        let cost = cost.filter(|cost| cost.usd.is_finite());
        let basis = cost.map(|cost| Text::from(cost.basis.as_str()));
        let values = vec![
            text(&session),
            text(&root_session),
            time(timestamp),
            text(&model),
            text(&message_id),
            integer(usage.input_tokens),
            integer(usage.output_tokens),
            integer(usage.cache_read_tokens),
            integer(usage.cache_write_tokens),
            integer(usage.cache_write_1h_tokens),
            integer(usage.reasoning_tokens),
            integer(usage.web_searches),
            cost.map_or(Value::Null, |cost| Value::Number(cost.usd)),
            text(&basis),
        ];
        Self { table: Table::Usage, values }
    }
}

fn text(text: &Option<Text>) -> Value {
    text.clone().map_or(Value::Null, Value::Text)
}

fn id(id: Option<&CorrId>) -> Value {
    id.map_or(Value::Null, |id| Value::Text(id.as_str().into()))
}

fn time(at: Option<Timestamp>) -> Value {
    at.map_or(Value::Null, Value::Time)
}

/// A number beyond the range is the largest one.
fn integer(number: Option<u64>) -> Value {
    number.map_or(Value::Null, |number| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX)))
}

fn json(value: &impl serde::Serialize) -> Option<Text> {
    Some(Json::of(value).ok()?.into_string().into())
}
