//! [`Histograms`]: the histograms of a turn.

use foldline_domain::TokenUsage;
use serde::{Deserialize, Serialize};

use super::{
    convention::{
        CHAT, ERROR_TYPE, EXECUTE_TOOL, OPERATION_NAME, PROVIDER_NAME, REQUEST_MODEL, TOKEN_TYPE,
        TOKEN_USAGE, TOOL_DURATION, TOOL_NAME,
    },
    signal::{
        Attributes, BucketCount, DataPoint, Histogram, Metric, Moment, Signal, SignalData,
        Temporality,
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

/// The tokens and the durations of calls since the last data points.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Histograms(Vec<Series>);

/// A series of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Series {
    of: SeriesKey,
    counts: [u64; 15],
    sum: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum SeriesKey {
    Tokens { provider: Option<String>, model: Option<String>, is_input: bool },
    Calls { tool: String, error: Option<String> },
}

impl Histograms {
    /// Counts the tokens of an operation.
    pub(super) fn count_tokens(
        &mut self,
        provider: Option<&str>,
        model: Option<&str>,
        usage: &TokenUsage,
    ) {
        for (is_input, tokens) in [(true, usage.input_tokens), (false, usage.output_tokens)] {
            let Some(tokens) = tokens.filter(|tokens| *tokens > 0) else { continue };
            let (provider, model) = (provider.map(str::to_owned), model.map(str::to_owned));
            self.observe(SeriesKey::Tokens { provider, model, is_input }, tokens as f64);
        }
    }

    /// Counts a call of a tool. `error` is the type of its error, if it failed.
    pub(super) fn count_call(&mut self, tool: &str, error: Option<&str>, millis: u64) {
        let of = SeriesKey::Calls { tool: tool.to_owned(), error: error.map(str::to_owned) };
        self.observe(of, millis as f64 / 1000.0);
    }

    fn observe(&mut self, of: SeriesKey, value: f64) {
        let bucket = of.bounds().partition_point(|bound| *bound < value);
        let at = self.0.iter().position(|series| series.of == of).unwrap_or_else(|| {
            self.0.push(Series { of, counts: [0; 15], sum: 0.0 });
            self.0.len() - 1
        });
        let Some(series) = self.0.get_mut(at) else { return };
        series.sum += value;
        if let Some(count) = series.counts.get_mut(bucket) {
            *count += 1;
        }
    }

    /// The data points of an interval, a metric each.
    pub(super) fn into_metrics(self, start: Moment, end: Moment) -> impl Iterator<Item = Signal> {
        self.0
            .into_iter()
            .map(move |series| Signal(SignalData::Metric(Box::new(series.metric(start, end)))))
    }
}

impl SeriesKey {
    fn bounds(&self) -> &'static [f64] {
        match self {
            Self::Tokens { .. } => &TOKENS,
            Self::Calls { .. } => &SECONDS,
        }
    }

    fn attributes(&self) -> Attributes {
        let attributes = Attributes::default();
        match self {
            Self::Tokens { provider, model, is_input } => attributes
                .with(OPERATION_NAME, CHAT)
                .with_known(PROVIDER_NAME, provider.as_deref())
                .with_known(REQUEST_MODEL, model.as_deref())
                .with(TOKEN_TYPE, if *is_input { "input" } else { "output" }),
            Self::Calls { tool, error } => attributes
                .with(OPERATION_NAME, EXECUTE_TOOL)
                .with(TOOL_NAME, tool.as_str())
                .with_known(ERROR_TYPE, error.as_deref()),
        }
    }
}

impl Series {
    fn metric(&self, start: Moment, end: Moment) -> Metric {
        let (name, unit) = match self.of {
            SeriesKey::Tokens { .. } => (TOKEN_USAGE, "{token}"),
            SeriesKey::Calls { .. } => (TOOL_DURATION, "s"),
        };
        let point = DataPoint {
            attributes: self.of.attributes(),
            start_time_unix_nano: start,
            time_unix_nano: end,
            count: self.counts.iter().sum(),
            sum: self.sum,
            bucket_counts: self.counts.map(BucketCount).to_vec(),
            explicit_bounds: self.of.bounds(),
        };
        let aggregation_temporality = Temporality::Delta;
        Metric {
            name,
            unit,
            histogram: Histogram { data_points: [point], aggregation_temporality },
        }
    }
}
