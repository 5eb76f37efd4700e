//! The cost of messages, by session.

use std::collections::HashSet;

use foldline_domain::{
    TokenUsage,
    pricing::{Cost, Prices},
};

use super::{MessageUsage, SessionUsage};

/// The tokens of a message with their cost.
#[derive(Clone, Copy, Debug)]
pub struct PricedMessage<'s> {
    /// The session in which it is counted.
    pub session: &'s SessionUsage,
    /// The session that the user started: this one, or the one that started it.
    pub root: RootSession<'s>,
    /// The tokens.
    pub message: &'s MessageUsage,
    /// The cost. If the log states the total cost of the session separately from its tokens, or of a window with the
    /// message, that is the cost, and nothing is estimated.
    pub cost: Option<Cost>,
    /// Whether the cost is unknown because the model has no price.
    pub is_unpriced: bool,
}

/// A session that the user started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RootSession<'s> {
    /// A session with an id.
    Named(&'s str),
    /// A session without an id, by its index.
    Unnamed(usize),
}

/// Totals of usage.
#[derive(Clone, Debug, Default)]
pub struct UsageSum<'s> {
    /// The sessions.
    pub sessions: HashSet<RootSession<'s>>,
    /// The tokens.
    pub tokens: TokenUsage,
    /// The known cost.
    pub cost: Option<Cost>,
}

/// The messages of sessions, in their order.
pub fn priced<'s>(
    sessions: &'s [SessionUsage],
    prices: &Prices,
) -> impl Iterator<Item = PricedMessage<'s>> {
    sessions.iter().enumerate().flat_map(move |(place, session)| {
        let root = root(place, session);
        let is_whole = states_cost_of_whole(session);
        session.messages.iter().map(move |message| {
            let is_stated = message.usage.cost_usd.is_some();
            let is_included = is_whole || message.is_in_window;
            let is_estimated = !is_stated && !is_included && !message.usage.is_zero();
            let cost = if is_stated || is_estimated { message.cost(prices) } else { None };
            let is_unpriced = is_estimated && cost.is_none();
            PricedMessage { session, root, message, cost, is_unpriced }
        })
    })
}

/// The sum of input and output tokens.
pub fn all_tokens(usage: &TokenUsage) -> u64 {
    usage.input_tokens.unwrap_or(0).saturating_add(usage.output_tokens.unwrap_or(0))
}

impl<'s> UsageSum<'s> {
    /// Adds a message.
    pub fn add(&mut self, row: &PricedMessage<'s>) {
        self.sessions.insert(row.root);
        self.tokens.add(&row.message.usage);
        self.cost = match (self.cost, row.cost) {
            (Some(sum), Some(cost)) => Some(sum + cost),
            (sum, cost) => sum.or(cost),
        };
    }
}

impl<'r, 's: 'r> FromIterator<&'r PricedMessage<'s>> for UsageSum<'s> {
    fn from_iter<I: IntoIterator<Item = &'r PricedMessage<'s>>>(rows: I) -> Self {
        let mut sum = Self::default();
        rows.into_iter().for_each(|row| sum.add(row));
        sum
    }
}

fn states_cost_of_whole(session: &SessionUsage) -> bool {
    session.messages.iter().any(|MessageUsage { usage, .. }| {
        usage.cost_usd.is_some() && usage.input_tokens.is_none() && usage.output_tokens.is_none()
    })
}

/// The session that a person began, of the one at a place of the list.
fn root(place: usize, session: &SessionUsage) -> RootSession<'_> {
    let id = session.root_session_id.as_ref().or(session.session_id.as_ref());
    id.map_or(RootSession::Unnamed(place), |id| RootSession::Named(id.as_str()))
}
