//! `usage`: tokens and costs.

use std::sync::Arc;

use foldline_database::usage::UsageSum;
use foldline_domain::pricing::CostBasis;
use foldline_render::human;
use schemars::JsonSchema;
use serde::Deserialize;

use super::tool_arguments::ToolArguments;
use crate::{
    error::Error,
    mcp::{
        arguments::{Bounds, Origin, Scope},
        call::Call,
        listing::Results,
        quote::{line, quoted},
    },
    verbs::usage::{By, Group, Used, groups},
};

/// The arguments of `usage`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct UsageTotals {
    /// Keys, by default day and model.
    by: Vec<Key>,
    #[serde(flatten)]
    scope: Scope,
    #[serde(flatten)]
    origin: Origin,
    /// Results to skip.
    offset: u32,
    #[serde(flatten)]
    bounds: Bounds,
}

/// A key of totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Key {
    Day,
    Week,
    Month,
    Model,
    Agent,
    Project,
    Session,
    Branch,
    Host,
    User,
}

impl Key {
    fn by(self) -> By {
        match self {
            Self::Day => By::Day,
            Self::Week => By::Week,
            Self::Month => By::Month,
            Self::Model => By::Model,
            Self::Agent => By::Agent,
            Self::Project => By::Project,
            Self::Session => By::Session,
            Self::Branch => By::Branch,
            Self::Host => By::Host,
            Self::User => By::User,
        }
    }
}

impl ToolArguments for UsageTotals {
    const NAME: &'static str = "usage";
    const TITLE: &'static str = "Tokens and costs";
    const ABOUT: &'static str = "Adds up tokens and US dollars.";

    fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    fn answer(&self, call: &Call<'_>) -> Result<String, Error> {
        let filter = self.origin.of(call.filter(&self.scope)?);
        let sessions = call.database.usage(&filter)?;
        let used = Used::new(&sessions, &filter, Arc::as_ref(call.prices));
        if used.rows.is_empty() {
            let what = format!("No usage is stated{}", self.origin.stated());
            return Ok(call.nothing(&what, &self.scope, self.offset));
        }
        let mut by: Vec<By> = Vec::new();
        for key in &self.by {
            if !by.contains(&key.by()) {
                by.push(key.by());
            }
        }
        if by.is_empty() {
            by = vec![By::Day, By::Model];
        }
        let groups = groups(&used, &by, call.zone);
        let mut head = format!("total: {}\n", figures(&used.total()));
        head.push_str(
            &used.notes().iter().map(|note| quoted(&line(note, 400))).collect::<String>(),
        );
        let skipped = (self.offset as usize).min(groups.len());
        let rows = groups.get(skipped..).unwrap_or_default();
        let results = Results { head, rows, offset: self.offset };
        results.answer(call, |group| Ok(block(call, group)))
    }
}

/// The figures of a group, and its keys as text of a log.
fn block(call: &Call<'_>, group: &Group<'_>) -> String {
    let key = |key: &Option<String>| match key {
        Some(key) => call.line(key, 200),
        None => "(none)".to_owned(),
    };
    let keys: Vec<_> = group.key.iter().map(key).collect();
    format!("{}\n{}", figures(&group.sum), quoted(&keys.join(" | ")))
}

fn figures(sum: &UsageSum<'_>) -> String {
    let tokens = &sum.tokens;
    let count = |number: Option<u64>, name: &str| {
        number.filter(|number| *number > 0).map(|number| format!("{} {name}", human::count(number)))
    };
    let cost = sum.cost.map(|cost| {
        let estimated = if cost.basis == CostBasis::Logged { "" } else { "≈" };
        format!("{estimated}{}", human::dollars(cost.usd))
    });
    let figures = [
        Some(human::number_of(sum.sessions.len(), "session")),
        count(tokens.input_tokens, "input"),
        count(tokens.output_tokens, "output"),
        count(tokens.cache_read_tokens, "read from cache"),
        count(tokens.cache_write_tokens, "written to cache"),
        cost,
    ];
    figures.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
