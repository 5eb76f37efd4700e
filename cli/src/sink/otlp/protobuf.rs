//! OTLP/JSON as protobuf: the messages of a request, by tables of their fields.
//!
//! The numbers are those of `opentelemetry/proto` 1.11. A field that the tables lack is an error, so that nothing is
//! left out.

use serde_json::{Map, Value};

use super::endpoint::SignalKind;

/// A field: its name in JSON, its number, and its type.
struct ProtoField(&'static str, u32, ProtoType);

/// The type of a field. An array in JSON is a repeated field.
#[derive(Clone, Copy)]
enum ProtoType {
    Text,
    /// Bytes, as hexadecimal digits.
    Bytes,
    /// An integer or an enumeration.
    Varint,
    /// An integer of 8 bytes.
    Fixed,
    Double,
    Message(&'static [ProtoField]),
}

use ProtoType::{Bytes, Double, Fixed, Message, Text, Varint};

const ANY_VALUE: &[ProtoField] = &[
    ProtoField("stringValue", 1, Text),
    ProtoField("boolValue", 2, Varint),
    ProtoField("intValue", 3, Varint),
    ProtoField("doubleValue", 4, Double),
];
const ATTRIBUTE: &[ProtoField] =
    &[ProtoField("key", 1, Text), ProtoField("value", 2, Message(ANY_VALUE))];
const RESOURCE: &[ProtoField] = &[ProtoField("attributes", 1, Message(ATTRIBUTE))];
const SCOPE: &[ProtoField] = &[ProtoField("name", 1, Text), ProtoField("version", 2, Text)];

const LINK: &[ProtoField] = &[ProtoField("traceId", 1, Bytes), ProtoField("spanId", 2, Bytes)];
const STATUS: &[ProtoField] = &[ProtoField("code", 3, Varint)];
const SPAN: &[ProtoField] = &[
    ProtoField("traceId", 1, Bytes),
    ProtoField("spanId", 2, Bytes),
    ProtoField("traceState", 3, Text),
    ProtoField("parentSpanId", 4, Bytes),
    ProtoField("name", 5, Text),
    ProtoField("kind", 6, Varint),
    ProtoField("startTimeUnixNano", 7, Fixed),
    ProtoField("endTimeUnixNano", 8, Fixed),
    ProtoField("attributes", 9, Message(ATTRIBUTE)),
    ProtoField("links", 13, Message(LINK)),
    ProtoField("status", 15, Message(STATUS)),
];
const SCOPE_SPANS: &[ProtoField] = &[
    ProtoField("scope", 1, Message(SCOPE)),
    ProtoField("spans", 2, Message(SPAN)),
    ProtoField("schemaUrl", 3, Text),
];
const RESOURCE_SPANS: &[ProtoField] = &[
    ProtoField("resource", 1, Message(RESOURCE)),
    ProtoField("scopeSpans", 2, Message(SCOPE_SPANS)),
];

const LOG_RECORD: &[ProtoField] = &[
    ProtoField("timeUnixNano", 1, Fixed),
    ProtoField("severityNumber", 2, Varint),
    ProtoField("attributes", 6, Message(ATTRIBUTE)),
    ProtoField("traceId", 9, Bytes),
    ProtoField("spanId", 10, Bytes),
    ProtoField("eventName", 12, Text),
];
const SCOPE_LOGS: &[ProtoField] = &[
    ProtoField("scope", 1, Message(SCOPE)),
    ProtoField("logRecords", 2, Message(LOG_RECORD)),
    ProtoField("schemaUrl", 3, Text),
];
const RESOURCE_LOGS: &[ProtoField] = &[
    ProtoField("resource", 1, Message(RESOURCE)),
    ProtoField("scopeLogs", 2, Message(SCOPE_LOGS)),
];

const DATA_POINT: &[ProtoField] = &[
    ProtoField("startTimeUnixNano", 2, Fixed),
    ProtoField("timeUnixNano", 3, Fixed),
    ProtoField("count", 4, Fixed),
    ProtoField("sum", 5, Double),
    ProtoField("bucketCounts", 6, Fixed),
    ProtoField("explicitBounds", 7, Double),
    ProtoField("attributes", 9, Message(ATTRIBUTE)),
];
const HISTOGRAM: &[ProtoField] = &[
    ProtoField("dataPoints", 1, Message(DATA_POINT)),
    ProtoField("aggregationTemporality", 2, Varint),
];
const NUMBER_POINT: &[ProtoField] = &[
    ProtoField("startTimeUnixNano", 2, Fixed),
    ProtoField("timeUnixNano", 3, Fixed),
    ProtoField("asDouble", 4, Double),
    ProtoField("attributes", 7, Message(ATTRIBUTE)),
];
const SUM: &[ProtoField] = &[
    ProtoField("dataPoints", 1, Message(NUMBER_POINT)),
    ProtoField("aggregationTemporality", 2, Varint),
    ProtoField("isMonotonic", 3, Varint),
];
const METRIC: &[ProtoField] = &[
    ProtoField("name", 1, Text),
    ProtoField("unit", 3, Text),
    ProtoField("sum", 7, Message(SUM)),
    ProtoField("histogram", 9, Message(HISTOGRAM)),
];
const SCOPE_METRICS: &[ProtoField] = &[
    ProtoField("scope", 1, Message(SCOPE)),
    ProtoField("metrics", 2, Message(METRIC)),
    ProtoField("schemaUrl", 3, Text),
];
const RESOURCE_METRICS: &[ProtoField] = &[
    ProtoField("resource", 1, Message(RESOURCE)),
    ProtoField("scopeMetrics", 2, Message(SCOPE_METRICS)),
];

const TRACES: &[ProtoField] = &[ProtoField("resourceSpans", 1, Message(RESOURCE_SPANS))];
const LOGS: &[ProtoField] = &[ProtoField("resourceLogs", 1, Message(RESOURCE_LOGS))];
const METRICS: &[ProtoField] = &[ProtoField("resourceMetrics", 1, Message(RESOURCE_METRICS))];

/// A request as protobuf; `None` if it has a field that is not in the tables.
pub(super) fn request(kind: SignalKind, json: &str) -> Option<Vec<u8>> {
    let fields = match kind {
        SignalKind::Traces => TRACES,
        SignalKind::Logs => LOGS,
        SignalKind::Metrics => METRICS,
    };
    let mut bytes = Vec::new();
    message(serde_json::from_str::<Value>(json).ok()?.as_object()?, fields, &mut bytes)?;
    Some(bytes)
}

fn message(object: &Map<String, Value>, fields: &[ProtoField], out: &mut Vec<u8>) -> Option<()> {
    let mut written = 0;
    for ProtoField(name, number, kind) in fields {
        let Some(value) = object.get(*name) else { continue };
        written += 1;
        match (value, kind) {
            // Numbers are packed.
            (Value::Array(items), Fixed | Double) => {
                let mut packed = Vec::with_capacity(8 * items.len());
                items.iter().try_for_each(|item| number_of_8_bytes(item, *kind, &mut packed))?;
                delimited(*number, &packed, out);
            }
            (Value::Array(items), _) => {
                items.iter().try_for_each(|item| field(item, *number, *kind, out))?;
            }
            _ => field(value, *number, *kind, out)?,
        }
    }
    (written == object.len()).then_some(())
}

fn field(value: &Value, number: u32, kind: ProtoType, out: &mut Vec<u8>) -> Option<()> {
    match kind {
        Text => delimited(number, value.as_str()?.as_bytes(), out),
        Bytes => delimited(number, &unhex(value.as_str()?)?, out),
        Varint => {
            tag(number, 0, out);
            varint(integer(value)?, out);
        }
        Fixed | Double => {
            tag(number, 1, out);
            number_of_8_bytes(value, kind, out)?;
        }
        Message(fields) => {
            let mut inner = Vec::new();
            message(value.as_object()?, fields, &mut inner)?;
            delimited(number, &inner, out);
        }
    }
    Some(())
}

fn tag(number: u32, wire: u8, out: &mut Vec<u8>) {
    varint(u64::from(number << 3) | u64::from(wire), out);
}

fn delimited(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    tag(number, 2, out);
    varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn number_of_8_bytes(value: &Value, kind: ProtoType, out: &mut Vec<u8>) -> Option<()> {
    let bytes = match kind {
        Double => value.as_f64()?.to_le_bytes(),
        _ => integer(value)?.to_le_bytes(),
    };
    out.extend_from_slice(&bytes);
    Some(())
}

/// An integer, which OTLP/JSON writes as a string if it has 64 bits. A negative one has its two's complement.
fn integer(value: &Value) -> Option<u64> {
    match value {
        Value::Bool(is) => Some((*is).into()),
        Value::Number(number) => number.as_u64(),
        Value::String(digits) => {
            digits.parse().ok().or_else(|| Some(digits.parse::<i64>().ok()?.cast_unsigned()))
        }
        _ => None,
    }
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.as_bytes().chunks(2).map(pair).collect()
}

/// The signals that an answer rejects, and why: `partial_success` of the response. Other answers reject nothing.
pub(super) fn rejected(answer: &[u8]) -> (u64, String) {
    let partial_success = fields(answer).into_iter().find(|(number, _)| *number == 1);
    let Some((_, ReadField::Bytes(partial_success))) = partial_success else {
        return <_>::default();
    };
    let (mut count, mut reason) = <(u64, String)>::default();
    for field in fields(partial_success) {
        match field {
            (1, ReadField::Varint(rejected)) => count = rejected,
            (2, ReadField::Bytes(text)) => reason = String::from_utf8_lossy(text).into_owned(),
            _ => {}
        }
    }
    (count, reason)
}

/// A field of a message that was read.
enum ReadField<'b> {
    Varint(u64),
    Bytes(&'b [u8]),
}

/// The fields of a message, up to one of another type.
fn fields(mut bytes: &[u8]) -> Vec<(u64, ReadField<'_>)> {
    let mut fields = Vec::new();
    while let Some((tag, rest)) = read_varint(bytes) {
        let Some((value, rest)) = read_varint(rest) else { break };
        let (value, rest) = match tag & 7 {
            0 => (ReadField::Varint(value), rest),
            2 => match usize::try_from(value).ok().and_then(|length| rest.split_at_checked(length))
            {
                Some((text, rest)) => (ReadField::Bytes(text), rest),
                None => break,
            },
            _ => break,
        };
        fields.push((tag >> 3, value));
        bytes = rest;
    }
    fields
}

fn read_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0;
    for (at, byte) in bytes.iter().enumerate().take(10) {
        number |= u64::from(byte & 0x7f).checked_shl(7 * at as u32)?;
        if byte & 0x80 == 0 {
            return Some((number, bytes.get(at + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The Collector's own library reads the same from these bytes and from the JSON.
    #[test]
    fn a_request() {
        let json = r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"a","value":{"intValue":"-1"}}]},"scopeSpans":[{"spans":[{"traceId":"00ff","name":"n","kind":1,"startTimeUnixNano":"258","status":{"code":2}}]}]}]}"#;
        let bytes = [
            "0a2e",                                         // resourceSpans
            "0a12 0a10 0a0161 120b 18ffffffffffffffffff01", // its resource
            "1218 1216",                                    // its scopeSpans, with a span
            "0a0200ff 2a016e 3001 390201000000000000 7a021802",
        ];
        let all = bytes.concat().replace(' ', "");
        assert_eq!(hex(&request(SignalKind::Traces, json).unwrap()), all);
    }

    #[test]
    fn numbers_are_packed() {
        let json = r#"{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"histogram":{"dataPoints":[{"bucketCounts":["1","2"],"explicitBounds":[0.5]}]}}]}]}]}"#;
        let point = "3210 0100000000000000 0200000000000000 3a08 000000000000e03f".replace(' ', "");
        let bytes = hex(&request(SignalKind::Metrics, json).unwrap());
        assert!(bytes.ends_with(&point), "{bytes}");
    }

    #[test]
    fn an_unknown_field_is_an_error() {
        assert!(request(SignalKind::Logs, r#"{"resourceLogs":[{"resource":{}}]}"#).is_some());
        for wrong in [r#"{"resourceLogs":[{"later":1}]}"#, r#"{"resourceSpans":[]}"#, "[]", "{"] {
            assert!(request(SignalKind::Logs, wrong).is_none(), "{wrong}");
        }
    }

    /// The answer was written by the Collector's own library.
    #[test]
    fn an_answer() {
        let answer = unhex("0a0c1207746f6f206f6c6408ac02").unwrap();
        assert_eq!(rejected(&answer), (300, "too old".to_owned()));
        for end in 0..answer.len() {
            let _ = rejected(&answer[..end]);
        }
        assert_eq!(rejected(&[]), (0, String::new()));
        assert_eq!(rejected(&[0xff; 20]), (0, String::new()));
    }
}
