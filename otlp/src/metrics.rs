//! [`Metrics`]: the tokens, the costs and the durations of calls of a session, or of an agent.

use foldline_domain::{Timestamp, TokenUsage, pricing::Cost};
use serde::{Deserialize, Serialize};

use super::{
    convention::{
        CHAT, COST, COST_BASIS, ERROR_TYPE, EXECUTE_TOOL, OPERATION_NAME, PROVIDER_NAME,
        REQUEST_MODEL, TOKEN_TYPE, TOKEN_USAGE, TOOL_DURATION, TOOL_NAME,
    },
    signal::{
        Attributes, BucketCount, DataPoint, Histogram, Interval, Metric, Moment, NumberPoint,
        PointTimes, Points, Signal, SignalData, Sum, Temporality,
    },
};

/// The bounds of the conventions for `gen_ai.client.token.usage`: powers of four.
const TOKENS: [f64; 14] = {
    let (mut bounds, mut at) = ([1.0; 14], 1);
    while at < bounds.len() {
        bounds[at] = 4.0 * bounds[at - 1];
        at += 1;
    }
    bounds
};

/// The bounds of the conventions for `gen_ai.execute_tool.duration`, in seconds.
const SECONDS: [f64; 14] =
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/// The series of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Metrics {
    series: Vec<Series>,
    /// The times of the points so far.
    times: Interval,
}

/// A series of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Series {
    of: SeriesKey,
    counts: [u64; 15],
    sum: f64,
    /// Whether it has counted something since its last point.
    has_news: bool,
    /// Where it began again with less than it had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    restarted: Option<Timestamp>,
}

/// A model, and who provides it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Model {
    pub(super) provider: String,
    pub(super) model: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum SeriesKey {
    Tokens { of: Model, is_input: bool },
    Cost { of: Model, basis: String },
    Calls { tool: String, error: Option<String> },
}

impl Metrics {
    /// Counts the tokens of an operation.
    pub(super) fn count_tokens(&mut self, of: &Model, usage: &TokenUsage) {
        for (is_input, tokens) in [(true, usage.input_tokens), (false, usage.output_tokens)] {
            let Some(tokens) = tokens.filter(|tokens| *tokens > 0) else { continue };
            self.observe(SeriesKey::Tokens { of: of.clone(), is_input }, tokens as f64);
        }
    }

    /// Counts a cost.
    pub(super) fn count_cost(&mut self, of: &Model, cost: Cost) {
        let basis = cost.basis.as_str().to_owned();
        self.observe(SeriesKey::Cost { of: of.clone(), basis }, cost.usd);
    }

    /// Counts a call of a tool. `error` is the type of its error, if it failed.
    pub(super) fn count_call(&mut self, tool: &str, error: Option<&str>, millis: u64) {
        let of = SeriesKey::Calls { tool: tool.to_owned(), error: error.map(str::to_owned) };
        self.observe(of, millis as f64 / 1000.0);
    }

    fn observe(&mut self, of: SeriesKey, value: f64) {
        let bucket = of.bounds().partition_point(|bound| *bound < value);
        let at = self.series.iter().position(|series| series.of == of).unwrap_or_else(|| {
            let (counts, sum) = ([0; 15], 0.0);
            self.series.push(Series { of, counts, sum, has_news: false, restarted: None });
            self.series.len() - 1
        });
        let Some(series) = self.series.get_mut(at) else { return };
        series.sum += value;
        series.has_news = true;
        if let Some(count) = series.counts.get_mut(bucket) {
            *count += 1;
        }
    }

    /// A data point of each series that has counted something, a metric each. Nothing, if no event of the session has
    /// stated a time yet. The intervals of a series join: each begins where the one before has ended, or where the
    /// session has begun.
    pub(super) fn points(
        &mut self,
        session: Interval,
        temporality: Temporality,
        common: &Attributes,
    ) -> Vec<Signal> {
        let before = self.times;
        self.times.include(session.last());
        if before.first().is_none() {
            self.times.include(session.first());
        }
        let Some((first, last)) = self.times.moments() else { return Vec::new() };
        let start = match (temporality, before.moments()) {
            (Temporality::Delta, Some((_, last))) => last,
            _ => first,
        };
        let times = PointTimes { start_time_unix_nano: start, time_unix_nano: last };
        let news = self.series.iter_mut().filter(|series| series.has_news);
        let points = news.map(|series| {
            series.has_news = false;
            let metric = series.metric(times, temporality, common.clone());
            if temporality == Temporality::Delta {
                (series.counts, series.sum) = ([0; 15], 0.0);
            }
            Signal(SignalData::Metric(Box::new(metric)))
        });
        points.collect()
    }

    /// A data point of each series that differs from what it was at an earlier moment, `before`. By default, series began
    /// at `begun`.
    pub(super) fn points_since(
        &mut self,
        before: Option<(&Self, Timestamp)>,
        begun: Moment,
        now: Moment,
        temporality: Temporality,
        common: &Attributes,
    ) -> Vec<Signal> {
        let mut points = Vec::new();
        for series in &mut self.series {
            let known = before.and_then(|(before, at)| {
                Some((before.series.iter().find(|known| known.of == series.of)?, at))
            });
            series.has_news = false;
            let mut shown = series.clone();
            let mut begins = begun;
            if let Some((known, at)) = known {
                series.restarted = match series.sum < known.sum {
                    true => Some(at),
                    false => known.restarted,
                };
                if series.counts == known.counts && series.sum == known.sum {
                    continue;
                }
                begins = series.restarted.and_then(Moment::of).unwrap_or(begun);
                if temporality == Temporality::Delta && !shown.subtract(known) {
                    continue;
                }
            }
            if let (Temporality::Delta, Some((_, at))) = (temporality, before) {
                begins = Moment::of(at).unwrap_or(begun);
            }
            let times = PointTimes { start_time_unix_nano: begins, time_unix_nano: now };
            let metric = shown.metric(times, temporality, common.clone());
            points.push(Signal(SignalData::Metric(Box::new(metric))));
        }
        points
    }
}

impl Model {
    fn attributes(&self, attributes: Attributes) -> Attributes {
        attributes
            .with(OPERATION_NAME, CHAT)
            .with(PROVIDER_NAME, self.provider.as_str())
            .with_known(REQUEST_MODEL, self.model.as_deref())
    }
}

impl SeriesKey {
    fn bounds(&self) -> &'static [f64] {
        match self {
            Self::Tokens { .. } => &TOKENS,
            Self::Calls { .. } => &SECONDS,
            Self::Cost { .. } => &[],
        }
    }

    fn attributes(&self, common: Attributes) -> Attributes {
        match self {
            Self::Tokens { of, is_input } => {
                of.attributes(common).with(TOKEN_TYPE, if *is_input { "input" } else { "output" })
            }
            Self::Cost { of, basis } => of.attributes(common).with(COST_BASIS, basis.as_str()),
            Self::Calls { tool, error } => common
                .with(OPERATION_NAME, EXECUTE_TOOL)
                .with(TOOL_NAME, tool.as_str())
                .with_known(ERROR_TYPE, error.as_deref()),
        }
    }
}

impl Series {
    /// Subtracts an earlier state of the series. Returns whether it has grown.
    fn subtract(&mut self, known: &Self) -> bool {
        self.sum -= known.sum;
        for (count, known) in self.counts.iter_mut().zip(known.counts) {
            *count = count.saturating_sub(known);
        }
        self.sum > 0.0
    }

    fn metric(&self, times: PointTimes, temporality: Temporality, common: Attributes) -> Metric {
        let attributes = self.of.attributes(common);
        let (name, unit) = match self.of {
            SeriesKey::Tokens { .. } => (TOKEN_USAGE, "{token}"),
            SeriesKey::Calls { .. } => (TOOL_DURATION, "s"),
            SeriesKey::Cost { .. } => {
                let point = NumberPoint { attributes, times, as_double: self.sum };
                let sum = Sum {
                    data_points: [point],
                    aggregation_temporality: temporality,
                    is_monotonic: true,
                };
                return Metric { name: COST, unit: "{USD}", points: Points::Sum(sum) };
            }
        };
        let point = DataPoint {
            attributes,
            times,
            count: self.counts.iter().sum(),
            sum: self.sum,
            bucket_counts: self.counts.map(BucketCount).to_vec(),
            explicit_bounds: self.of.bounds(),
        };
        let histogram = Histogram { data_points: [point], aggregation_temporality: temporality };
        Metric { name, unit, points: Points::Histogram(histogram) }
    }
}
