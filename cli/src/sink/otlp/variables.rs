//! [`Variables`]: the environment variables of OpenTelemetry: the standard ones, and those of this program.

use std::{borrow::Cow, collections::BTreeMap, time::Duration};

use foldline_otlp::{Resource, Temporality, TraceParent, TraceScope};

use crate::error::Error;

/// The environment variables whose names begin with `OTEL_` or `FOLDLINE_OTLP_`, and those of W3C Trace Context. An empty one counts as absent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables(BTreeMap<String, String>);

impl Variables {
    /// Those of the process.
    pub(crate) fn of_process() -> Self {
        let named = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
            let is_ours = ["OTEL_", "FOLDLINE_OTLP_"].iter().any(|prefix| name.starts_with(prefix))
                || [TRACEPARENT, TRACESTATE].contains(&name.as_str());
            (is_ours && !value.trim().is_empty()).then_some((name, value))
        };
        Self(std::env::vars_os().filter_map(named).collect())
    }

    /// A variable.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| value.trim())
    }

    /// The pairs of a list `KEY=VALUE,KEY=VALUE`, whose values are percent-encoded.
    pub(super) fn pairs(&self, name: &str) -> Result<Vec<(String, String)>, Error> {
        let list = self.get(name).unwrap_or_default();
        let pairs = list.split(',').map(str::trim).filter(|pair| !pair.is_empty()).map(|pair| {
            let (key, value) = pair.split_once('=')?;
            Some((key.trim().to_owned(), decoded(value.trim())?.into_owned()))
        });
        pairs.collect::<Option<_>>().ok_or_else(|| {
            Error::WrongUse(format!("{name} is not a list of KEY=VALUE, separated by commas"))
        })
    }

    /// Checks the variables that every OTLP output uses.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.temporality()?;
        self.trace_scope()?;
        self.idle()?;
        self.export_interval()?;
        self.pairs(RESOURCE_ATTRIBUTES).map(drop)
    }

    /// What data points of metrics count: all, or what is new.
    pub(super) fn temporality(&self) -> Result<Temporality, Error> {
        match self.get(TEMPORALITY).map(str::to_ascii_lowercase).as_deref() {
            None | Some("cumulative") => Ok(Temporality::Cumulative),
            // Without a memory of all series: both only count.
            Some("delta" | "lowmemory") => Ok(Temporality::Delta),
            Some(_) => {
                Err(Error::WrongUse(format!("{TEMPORALITY} is cumulative, delta or lowmemory")))
            }
        }
    }

    /// What a trace contains.
    pub(super) fn trace_scope(&self) -> Result<TraceScope, Error> {
        match self.get(TRACE) {
            None | Some("turn") => Ok(TraceScope::Turn),
            Some("session") => Ok(TraceScope::Session),
            Some(_) => Err(Error::WrongUse(format!("{TRACE} is turn or session"))),
        }
    }

    /// The time without events after which a turn ends that is followed.
    pub(crate) fn idle(&self) -> Result<Duration, Error> {
        let seconds = self.get(IDLE).map_or(Some(300), |seconds| seconds.parse().ok());
        let seconds = seconds.filter(|seconds| *seconds > 0).map(Duration::from_secs);
        seconds.ok_or_else(|| Error::WrongUse(format!("{IDLE} is a number of seconds, at least 1")))
    }

    /// The time between points of metrics while logs are followed.
    pub(crate) fn export_interval(&self) -> Result<Duration, Error> {
        let millis = self.get(EXPORT_INTERVAL).map_or(Some(60_000), |millis| millis.parse().ok());
        millis.map(Duration::from_millis).ok_or_else(|| {
            Error::WrongUse(format!("{EXPORT_INTERVAL} is a number of milliseconds"))
        })
    }

    /// The span that the program was started in. One that is not valid is ignored, as its specification demands.
    pub(super) fn caller(&self) -> Option<TraceParent> {
        let caller: TraceParent = self.get(TRACEPARENT)?.parse().ok()?;
        Some(caller.with_state(self.get(TRACESTATE).map(str::to_owned)))
    }

    /// The resource that they describe. By default, the service is `foldline`.
    pub(super) fn resource(&self) -> Resource {
        let mut resource = Resource::default();
        let service = self.get("OTEL_SERVICE_NAME");
        if let Some(name) = service {
            resource = resource.with(SERVICE_NAME, name);
        }
        for (key, value) in self.pairs(RESOURCE_ATTRIBUTES).unwrap_or_default() {
            if !resource.has(&key) {
                resource = resource.with(&key, &value);
            }
        }
        if resource.has(SERVICE_NAME) { resource } else { resource.with(SERVICE_NAME, "foldline") }
    }
}

const RESOURCE_ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";
const TEMPORALITY: &str = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
const EXPORT_INTERVAL: &str = "OTEL_METRIC_EXPORT_INTERVAL";
const IDLE: &str = "FOLDLINE_OTLP_IDLE";
/// The name of the variable for a span that a program is started in.
pub(super) const TRACEPARENT: &str = "TRACEPARENT";
const TRACESTATE: &str = "TRACESTATE";
const TRACE: &str = "FOLDLINE_OTLP_TRACE";
const SERVICE_NAME: &str = "service.name";

/// Decodes `%20` and the like; `None` if that is not UTF-8, or not complete.
fn decoded(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, tail) = tail.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = tail;
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
impl<const N: usize> From<[(&str, &str); N]> for Variables {
    fn from(variables: [(&str, &str); N]) -> Self {
        Self(variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource() {
        let json = |variables: Variables| serde_json::to_string(&variables.resource()).unwrap();
        assert!(json(Variables::default()).contains(r#""stringValue":"foldline""#));
        let variables = Variables::from([
            ("OTEL_SERVICE_NAME", "mine"),
            (RESOURCE_ATTRIBUTES, "service.name=other, team=a%20b%2Cc"),
        ]);
        let json = json(variables);
        assert!(
            json.contains("mine") && json.contains("a b,c") && !json.contains("other"),
            "{json}"
        );
    }

    #[test]
    fn points_are_cumulative_unless_deltas_are_preferred() {
        let preferred = |value| Variables::from([(TEMPORALITY, value)]).temporality();
        assert_eq!(Variables::default().temporality().ok(), Some(Temporality::Cumulative));
        assert_eq!(preferred("Delta").ok(), Some(Temporality::Delta));
        assert!(preferred("sum").is_err());
    }

    #[test]
    fn a_trace_is_a_turn_unless_it_is_a_session() {
        let scope = |value| Variables::from([(TRACE, value)]).trace_scope();
        assert_eq!(Variables::default().trace_scope().ok(), Some(TraceScope::Turn));
        assert_eq!(scope("session").ok(), Some(TraceScope::Session));
        assert!(scope("day").is_err() && Variables::from([(TRACE, "day")]).check().is_err());
    }

    #[test]
    fn a_turn_ends_after_five_minutes_without_events() {
        let idle = |value| Variables::from([(IDLE, value)]).idle();
        assert_eq!(Variables::default().idle().ok(), Some(Duration::from_secs(300)));
        assert_eq!(idle("20").ok(), Some(Duration::from_secs(20)));
        assert!(["0", "-1", "1m"].into_iter().all(|wrong| idle(wrong).is_err()));
    }

    #[test]
    fn a_wrong_list_is_refused() {
        for wrong in ["team", "a=b,c", "a=%zz", "a=%2", "a=%ff"] {
            let variables = Variables::from([(RESOURCE_ATTRIBUTES, wrong)]);
            assert!(variables.check().is_err(), "{wrong}");
        }
    }
}
