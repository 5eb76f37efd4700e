//! [`Family`]: a metric and its values, in the text format of Prometheus.

use std::fmt::Write;

/// The labels of a value: names and values.
type Labels = Vec<(&'static str, String)>;

/// A metric and its values.
pub(super) struct Family {
    name: &'static str,
    help: &'static str,
    /// Counters have names that end in `_total`.
    values: Vec<(Labels, f64)>,
}

impl Family {
    /// Values with labels.
    pub(super) fn new<const N: usize>(
        name: &'static str,
        help: &'static str,
        values: impl IntoIterator<Item = ([(&'static str, String); N], f64)>,
    ) -> Self {
        let values = values.into_iter().map(|(labels, value)| (labels.into(), value));
        Self { name, help, values: values.collect() }
    }

    /// The lines of the metric.
    pub(super) fn text(&self) -> String {
        let Self { name, help, values } = self;
        let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
        let mut text = format!("# HELP {name} {help}\n# TYPE {name} {kind}\n");
        for (labels, value) in values {
            let labels: Vec<_> = labels
                .iter()
                .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
                .collect();
            // Writing to a string does not fail.
            let _ = match labels.is_empty() {
                true => writeln!(text, "{name} {value}"),
                false => writeln!(text, "{name}{{{}}} {value}", labels.join(",")),
            };
        }
        text
    }
}

/// A metric with a single value.
pub(super) fn one(name: &'static str, help: &'static str, value: f64) -> Family {
    Family::new(name, help, [([], value)])
}

/// A metric with one value per partition.
pub(super) fn by_partition(
    name: &'static str,
    help: &'static str,
    values: impl IntoIterator<Item = (i32, f64)>,
) -> Family {
    let labelled = |(partition, value): (i32, f64)| ([("partition", partition.to_string())], value);
    Family::new(name, help, values.into_iter().map(labelled))
}

fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_as_prometheus_reads_them() {
        let family = by_partition("foldline_lag", "What waits", [(0, 1.0), (3, 0.5)]);
        assert_eq!(
            family.text(),
            "# HELP foldline_lag What waits\n# TYPE foldline_lag gauge\n\
             foldline_lag{partition=\"0\"} 1\nfoldline_lag{partition=\"3\"} 0.5\n"
        );
        let one = one("foldline_commits_total", "Commits", 7.0).text();
        assert!(one.contains("TYPE foldline_commits_total counter"), "{one}");
        let labels = [("a", "x\"\\\n".to_owned()), ("b", "y".to_owned())];
        let odd = Family::new("foldline_odd", "Odd", [(labels, 1.0)]).text();
        assert!(odd.ends_with("foldline_odd{a=\"x\\\"\\\\\\n\",b=\"y\"} 1\n"), "{odd}");
    }
}
