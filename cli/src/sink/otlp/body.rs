//! The body of a request: several lines as one.

use super::endpoint::SignalKind;

/// The kind of a line: each begins with the field of its signals.
pub(super) fn kind_of(line: &str) -> Option<SignalKind> {
    SignalKind::ALL.into_iter().find(|kind| inner(line, *kind).is_some())
}

/// One request with the signals of all lines, which are of one kind.
pub(super) fn joined<'l>(kind: SignalKind, lines: impl Iterator<Item = &'l str>) -> String {
    let mut body = format!("{{\"{}\":[", kind.field());
    for (at, signals) in lines.filter_map(|line| inner(line, kind)).enumerate() {
        if at > 0 {
            body.push(',');
        }
        body.push_str(signals);
    }
    body + "]}"
}

/// The elements of the list that a line consists of.
fn inner(line: &str, kind: SignalKind) -> Option<&str> {
    let list = line.strip_prefix("{\"")?.strip_prefix(kind.field())?;
    list.strip_prefix("\":[")?.strip_suffix("]}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined() {
        let lines = [r#"{"resourceLogs":[{"a":"]}"}]}"#, r#"{"resourceLogs":[{"b":[1]}]}"#];
        assert!(lines.iter().all(|line| kind_of(line) == Some(SignalKind::Logs)));
        let body = joined(SignalKind::Logs, lines.into_iter());
        assert_eq!(body, r#"{"resourceLogs":[{"a":"]}"},{"b":[1]}]}"#);
        assert_eq!(kind_of("text"), None);
    }
}
