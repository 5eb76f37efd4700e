//! The Prometheus text format.
//!
//! `prometheus-client` writes OpenMetrics, where the type line of a counter names it without `_total`. In the older
//! text format, which more programs support, both lines have the same name: a counter here has `_total` in its name,
//! and its values are written like those of a gauge, without a suffix.

use std::fmt;

use prometheus_client::{
    collector::Collector,
    encoding::{
        DescriptorEncoder, EncodeGaugeValue, EncodeLabel, EncodeLabelSet, LabelSetEncoder,
        MetricEncoder, NoLabelSet, text::encode_registry,
    },
    metrics::MetricType,
    registry::Registry,
};

use super::{AgentMetrics, Durations, Metrics, ModelMetrics, ToolMetrics};
use crate::{conversation::TokenUsage, pricing::CostBasis};

const OPERATION: &str = "gen_ai_operation_name";
const AGENT: &str = "gen_ai_agent_name";
const MODEL: &str = "gen_ai_request_model";
const TOOL: &str = "gen_ai_tool_name";
const TOKEN_TYPE: &str = "gen_ai_token_type";
const ERROR: &str = "error_type";
const BASIS: &str = "basis";

impl Metrics {
    /// All counters in the Prometheus text format.
    pub fn render(&self) -> String {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Exposition(self.clone())));
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode_registry(&mut text, &registry);
        text
    }
}

#[derive(Debug)]
struct Exposition(Metrics);

impl Collector for Exposition {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Self(metrics) = self;
        let mut out = Families { encoder };
        out.tokens(metrics)?;
        out.tools(metrics)?;
        out.conversation(metrics)?;
        out.log(metrics)
    }
}

struct Families<'e> {
    encoder: DescriptorEncoder<'e>,
}

impl Families<'_> {
    fn tokens(&mut self, metrics: &Metrics) -> fmt::Result {
        let help = "Tokens used; input includes cached tokens, output includes reasoning";
        let used =
            |usage: &TokenUsage| [("input", usage.input_tokens), ("output", usage.output_tokens)];
        let series = models(metrics).flat_map(|(agent, model, ModelMetrics { usage, .. })| {
            let of_type = move |(token_type, tokens): (&'static str, Option<u64>)| {
                Some((chat(agent, model, token_type), tokens?))
            };
            used(usage).into_iter().filter_map(of_type)
        });
        self.counter("gen_ai_client_token_usage_total", help, series)?;

        type Part = (&'static str, &'static str, fn(&TokenUsage) -> Option<u64>);
        const PARTS: [Part; 3] = [
            (
                "gen_ai_usage_cache_read_input_tokens_total",
                "Input tokens that were read from a cache",
                |usage| usage.cache_read_tokens,
            ),
            (
                "gen_ai_usage_cache_creation_input_tokens_total",
                "Input tokens that were written to a cache",
                |usage| usage.cache_write_tokens,
            ),
            (
                "gen_ai_usage_reasoning_output_tokens_total",
                "Output tokens that were reasoning",
                |usage| usage.reasoning_tokens,
            ),
        ];
        for (name, help, part) in PARTS {
            let series =
                models(metrics).filter_map(|(agent, model, ModelMetrics { usage, .. })| {
                    Some((chat(agent, model, ""), part(usage)?))
                });
            self.counter(name, help, series)?;
        }
        let help = "US dollars: logged if the log states them, else estimated from prices";
        let series = models(metrics).flat_map(|(agent, model, of)| {
            let of_basis = move |(basis, usd): (CostBasis, Option<f64>)| {
                Some((Labels([(AGENT, agent), (MODEL, model), (BASIS, basis.as_str())]), usd?))
            };
            let costs = [
                (CostBasis::Logged, of.usage.cost_usd),
                (CostBasis::Estimated, of.estimated_cost_usd),
            ];
            costs.into_iter().filter_map(of_basis)
        });
        self.counter("foldline_cost_usd_total", help, series)
    }

    fn tools(&mut self, metrics: &Metrics) -> fmt::Result {
        let help = "Durations of tool calls, if the log states them";
        let series = tools(metrics).flat_map(|(agent, tool, calls)| {
            calls.durations.iter().map(move |(status, durations)| {
                let error = if status == "success" { "" } else { status };
                let labels =
                    [(OPERATION, "execute_tool"), (AGENT, agent), (TOOL, tool), (ERROR, error)];
                (Labels(labels), *durations)
            })
        });
        self.family("gen_ai_execute_tool_duration_seconds", help, MetricType::Histogram, series)?;

        let series = tools(metrics).flat_map(|(agent, tool, calls)| {
            calls.ended.iter().map(move |(status, count)| {
                (Labels([(AGENT, agent), (TOOL, tool), ("status", status)]), *count)
            })
        });
        self.counter("foldline_tool_calls_total", "Ended tool calls", series)?;
        let open = [(Labels([]), metrics.calls_open)];
        let help = "Open tool calls";
        self.family("foldline_tool_calls_open", help, MetricType::Gauge, open)
    }

    fn conversation(&mut self, metrics: &Metrics) -> fmt::Result {
        let entries = metrics.entries.iter();
        let series = entries.map(|(name, count)| (Labels([("type", name.as_str())]), *count));
        self.counter("foldline_entries_total", "Entries of the conversations", series)?;
        let series = metrics.agents.iter().flat_map(|(agent, AgentMetrics { sessions, .. })| {
            sessions.iter().map(move |(outcome, count)| {
                (Labels([(AGENT, agent), ("outcome", outcome.as_str())]), *count)
            })
        });
        self.counter("foldline_sessions_total", "Ended sessions", series)
    }

    fn log(&mut self, metrics: &Metrics) -> fmt::Result {
        let warnings = metrics.warnings.iter();
        let series = warnings.map(|(kind, count)| (Labels([("kind", kind.as_str())]), *count));
        self.counter("foldline_warnings_total", "Problems of the logs", series)?;
        let plain = |count| [(Labels([]), count)];
        let read = metrics.read;
        let help = "Lines read, including blank ones";
        self.counter("foldline_lines_total", help, plain(read.lines))?;
        self.counter("foldline_lines_blank_total", "Blank lines", plain(read.blank))?;
        self.counter("foldline_records_total", "Records read", plain(read.records))
    }

    fn counter<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        series: impl IntoIterator<Item = (Labels<'l, N>, impl Value)>,
    ) -> fmt::Result {
        self.family(name, help, MetricType::Counter, series)
    }

    /// A metric family; omitted if it has no series.
    fn family<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        metric_type: MetricType,
        series: impl IntoIterator<Item = (Labels<'l, N>, impl Value)>,
    ) -> fmt::Result {
        let mut series = series.into_iter().peekable();
        if series.peek().is_none() {
            return Ok(());
        }
        let mut family = self.encoder.encode_descriptor(name, help, None, metric_type)?;
        series.try_for_each(|(labels, value)| match labels.are_stated() {
            true => value.encode(&mut family.encode_family(&labels)?),
            false => value.encode(&mut family),
        })
    }
}

fn models(metrics: &Metrics) -> impl Iterator<Item = (&str, &str, &ModelMetrics)> {
    metrics.agents.iter().flat_map(|(agent, AgentMetrics { models, .. })| {
        models.iter().map(move |(model, of)| (agent, model, of))
    })
}

fn tools(metrics: &Metrics) -> impl Iterator<Item = (&str, &str, &ToolMetrics)> {
    metrics.agents.iter().flat_map(|(agent, AgentMetrics { tools, .. })| {
        tools.iter().map(move |(tool, calls)| (agent, tool, calls))
    })
}

fn chat<'l>(agent: &'l str, model: &'l str, token_type: &'l str) -> Labels<'l, 4> {
    Labels([(OPERATION, "chat"), (AGENT, agent), (MODEL, model), (TOKEN_TYPE, token_type)])
}

/// Labels; labels without a value are omitted, which is equivalent.
struct Labels<'l, const N: usize>([(&'static str, &'l str); N]);

impl<const N: usize> Labels<'_, N> {
    fn are_stated(&self) -> bool {
        self.0.iter().any(|(_, value)| !value.is_empty())
    }
}

impl<const N: usize> EncodeLabelSet for Labels<'_, N> {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        let stated = self.0.iter().filter(|(_, value)| !value.is_empty());
        stated.copied().try_for_each(|label| label.encode(encoder.encode_label()))
    }
}

/// The value of a series.
trait Value {
    fn encode(&self, encoder: &mut MetricEncoder<'_>) -> fmt::Result;
}

impl Value for u64 {
    fn encode(&self, encoder: &mut MetricEncoder<'_>) -> fmt::Result {
        number(self, encoder)
    }
}

impl Value for f64 {
    fn encode(&self, encoder: &mut MetricEncoder<'_>) -> fmt::Result {
        number(self, encoder)
    }
}

impl Value for Durations {
    fn encode(&self, encoder: &mut MetricEncoder<'_>) -> fmt::Result {
        let buckets: Vec<_> = self.buckets().collect();
        encoder.encode_histogram::<NoLabelSet>(self.sum_seconds(), self.count(), &buckets, None)
    }
}

fn number(value: &impl EncodeGaugeValue, encoder: &mut MetricEncoder<'_>) -> fmt::Result {
    encoder.encode_gauge(value)
}
