//! [`Used`]: what was used, as far as it is asked for, and what it cost.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io::{self, Write},
};

use foldline::{
    conversation::{SessionId, TokenUsage},
    emitters::{
        terminal::neutralise_line,
        usage::{MessageUsage, SessionUsage},
    },
    pricing::{Cost, Prices},
};

use crate::answer::{filters::Filters, prices::requests, when::Span};

/// A session of a log or of a database.
#[derive(Clone, Debug)]
pub(crate) struct UsedSession {
    pub(crate) usage: SessionUsage,
    pub(crate) task: Option<String>,
}

/// What was used, as far as it is asked for.
pub(crate) struct Used<'s> {
    pub(crate) rows: Vec<Row<'s>>,
    /// Models without a price, and their tokens.
    unpriced: BTreeMap<Option<&'s str>, u64>,
    /// Tokens that are left out, as nobody knows whether they were used in the time that is asked for.
    undated: u64,
}

/// The tokens of a message.
pub(crate) struct Row<'s> {
    pub(crate) session: &'s UsedSession,
    /// The session that the person began: this one, or the one that it was started from.
    pub(crate) root: Root<'s>,
    pub(crate) message: &'s MessageUsage,
    pub(crate) cost: Option<Cost>,
}

/// The session that a person began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Root<'s> {
    /// By its id.
    Named(&'s str),
    /// One without an id, by its place.
    Unnamed(usize),
}

/// What was used in sum.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sum<'s> {
    pub(crate) sessions: HashSet<Root<'s>>,
    pub(crate) tokens: TokenUsage,
    pub(crate) cost: Option<Cost>,
}

impl<'s> Used<'s> {
    /// What the filters and the time ask for.
    pub(crate) fn new(
        sessions: &'s [UsedSession],
        filters: &Filters,
        span: Span,
        prices: &Prices,
    ) -> Self {
        let roots = roots(sessions);
        let (mut rows, mut unpriced, mut undated) = (Vec::new(), BTreeMap::new(), 0_u64);
        for (session, root) in sessions.iter().zip(roots) {
            if !filters.admit(&session.usage, session.task.as_deref()) {
                continue;
            }
            let is_whole = states_cost_of_whole(&session.usage);
            for message in &session.usage.messages {
                let model = message.of.model.as_deref();
                if !filters.admits_model(model) {
                    continue;
                }
                if !span.has(message.of.at) {
                    if message.of.at.is_none() {
                        undated = undated.saturating_add(all_tokens(&message.usage));
                    }
                    continue;
                }
                let has_cost = message.usage.cost_usd.is_some();
                let cost = match !has_cost && (is_whole || message.usage.is_zero()) {
                    true => None,
                    false => {
                        let requests = requests(message.of.message_id.as_deref());
                        let cost = prices.cost(model.unwrap_or(""), &message.usage, requests);
                        if cost.is_none() {
                            *unpriced.entry(model).or_default() += all_tokens(&message.usage);
                        }
                        cost
                    }
                };
                rows.push(Row { session, root, message, cost });
            }
        }
        Self { rows, unpriced, undated }
    }

    /// All of it.
    pub(crate) fn total(&self) -> Sum<'s> {
        let mut sum = Sum::default();
        self.rows.iter().for_each(|row| sum.add(row));
        sum
    }

    /// Says on standard error what is left out, and why costs are unknown.
    pub(crate) fn report(&self) {
        for note in self.notes() {
            // Whether this is read has no effect.
            let _ = writeln!(io::stderr(), "foldline: {note}");
        }
    }

    /// What is left out, and why costs are unknown, in sentences.
    pub(crate) fn notes(&self) -> Vec<String> {
        let note = |(model, tokens): (&Option<&str>, &u64)| match model {
            Some(model) => {
                let model = neutralise_line(model);
                format!("no price for the model {model}: {tokens} tokens are not in the cost")
            }
            None => format!("no model is stated for {tokens} tokens, which are not in the cost"),
        };
        let undated = match self.undated {
            0 => None,
            tokens => Some(format!("no time is stated for {tokens} tokens, which are left out")),
        };
        undated.into_iter().chain(self.unpriced.iter().map(note)).collect()
    }
}

impl<'s> Sum<'s> {
    pub(crate) fn add(&mut self, row: &Row<'s>) {
        self.sessions.insert(row.root);
        self.add_tokens(&row.message.usage, row.cost);
    }

    pub(crate) fn add_tokens(&mut self, usage: &TokenUsage, cost: Option<Cost>) {
        self.tokens.add(usage);
        self.cost = match (self.cost, cost) {
            (Some(sum), Some(cost)) => Some(sum + cost),
            (sum, cost) => sum.or(cost),
        };
    }
}

/// Input and output.
pub(crate) fn all_tokens(usage: &TokenUsage) -> u64 {
    usage.input_tokens.unwrap_or(0).saturating_add(usage.output_tokens.unwrap_or(0))
}

/// Whether the log states what the session cost as a whole, apart from the tokens. Then that is the cost, and
/// nothing is estimated.
fn states_cost_of_whole(session: &SessionUsage) -> bool {
    session.messages.iter().any(|MessageUsage { usage, .. }| {
        usage.cost_usd.is_some() && usage.input_tokens.is_none() && usage.output_tokens.is_none()
    })
}

/// The session that each one belongs to, however long the chain of sub-agents is.
fn roots(sessions: &[UsedSession]) -> Vec<Root<'_>> {
    let mut parents: HashMap<&str, &str> = HashMap::new();
    for UsedSession { usage, .. } in sessions {
        let pair = id_of(&usage.session_id).zip(id_of(&usage.parent_session_id));
        parents.extend(pair);
    }
    let mut roots: Vec<_> = sessions
        .iter()
        .enumerate()
        .map(|(place, session)| {
            id_of(&session.usage.session_id).map_or(Root::Unnamed(place), Root::Named)
        })
        .collect();
    for root in &mut roots {
        let mut seen = HashSet::new();
        while let Root::Named(id) = root
            && let Some(parent) = parents.get(id).filter(|parent| seen.insert(**parent))
        {
            *root = Root::Named(parent);
        }
    }
    roots
}

fn id_of(id: &Option<SessionId>) -> Option<&str> {
    id.as_ref().map(SessionId::as_str)
}
