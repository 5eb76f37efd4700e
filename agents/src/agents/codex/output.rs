//! Outputs of functions as given to the model: text after a few lines of facts.

use crate::prelude::*;

/// A parsed output.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Output {
    /// The text of the tool.
    pub(super) body: Text,
    /// The exit code of a command.
    pub(super) exit_code: Option<i32>,
    /// The duration.
    pub(super) duration_ms: Option<u64>,
    /// The status of the call, if the output states it.
    pub(super) status: Option<ToolStatus>,
    /// Further facts, by name.
    pub(super) extra: Vec<(String, Json)>,
}

/// Outputs of calls that were denied.
const REFUSALS: [&str; 2] = ["exec command rejected by user", "patch rejected by user"];

/// The maximum length of a denial.
const LONGEST_CLOSING: usize = 60;

/// Prefixes of lines with further facts, and the names of the facts.
const FURTHER_FACTS: [(&str, &str); 6] = [
    ("Chunk ID: ", "chunk_id"),
    ("Process running with session ID ", "session_id"),
    ("Original token count: ", "original_token_count"),
    ("Total output lines: ", "total_output_lines"),
    ("Script running with ", "running_with"),
    ("Script completed", "completed"),
];

/// Parses an output. Without such facts, all of it is the body.
///
/// - `Chunk ID: ..`, `Wall time: 0.05 seconds`, `Process exited with code 0`, .., `Output:`, text;
/// - `Script completed`, `Wall time 0.0 seconds`, `Output:`, text (the JavaScript tool);
/// - `{"output": text, "metadata": {"exit_code": 0, "duration_seconds": 0.1}}` (2025).
pub(super) fn read(text: Text) -> Output {
    // An output without one of these prefixes need not be decoded.
    let begins = |prefix: &&str| text.begins_with(prefix);
    if ["{", "Chunk ID:", "Wall time", "Exit code:", "Process ", "Script "].iter().any(begins) {
        let decoded = text.decode();
        if let Some(output) = read_json(&decoded).or_else(|| read_header(&decoded)) {
            return output;
        }
    }
    let status =
        if text.size() > 2 * LONGEST_CLOSING { None } else { closing_status(&text.decode()) };
    Output { body: text, status, ..Output::default() }
}

fn read_json(text: &str) -> Option<Output> {
    let mut object = Object::parse(text).ok()?;
    let body = object.text("output")?;
    let mut metadata = object.object("metadata")?;
    let exit_code = metadata.take("exit_code", |raw: Raw<'_>| raw.get().parse().ok());
    let duration_ms = metadata.f64("duration_seconds").map(millis);
    let status = closing_status(&body.decode());
    Some(Output { body, exit_code, duration_ms, status, extra: Vec::new() })
}

fn read_header(text: &str) -> Option<Output> {
    let mut output = Output::default();
    let mut rest = text;
    let mut facts = 0;
    loop {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let value = |prefix: &str| line.strip_prefix(prefix).map(str::trim);
        if line == "Output:" && facts > 0 {
            rest = after;
            break;
        } else if let Some(code) =
            value("Process exited with code ").or_else(|| value("Exit code: "))
        {
            output.exit_code = Some(code.parse().ok()?);
        } else if let Some(time) = value("Wall time: ").or_else(|| value("Wall time ")) {
            let seconds: f64 = time.strip_suffix(" seconds")?.parse().ok()?;
            output.duration_ms = Some(millis(seconds));
        } else if line == "Script failed" {
            output.status = Some(ToolStatus::Failed);
        } else if let Some((value, name)) =
            FURTHER_FACTS.iter().find_map(|(prefix, name)| Some((value(prefix)?, name)))
        {
            if !value.is_empty() {
                output.extra.push(((*name).to_owned(), Json::from(Text::from(value))));
            }
        } else {
            break;
        }
        facts += 1;
        rest = after;
        if after.is_empty() {
            break;
        }
    }
    output.status = output.status.or_else(|| closing_status(rest));
    output.body = Text::from(rest);
    (facts > 0).then_some(output)
}

fn closing_status(text: &str) -> Option<ToolStatus> {
    let text = text.trim();
    if text.len() > LONGEST_CLOSING {
        return None;
    }
    if REFUSALS.contains(&text) {
        return Some(ToolStatus::Denied { reason: Some(text.into()) });
    }
    let aborted = text == "aborted"
        || text == "aborted by user"
        || (text.starts_with("aborted by user after ") && text.lines().count() == 1);
    aborted.then_some(ToolStatus::Cancelled)
}

/// Converts seconds to milliseconds, saturating.
fn millis(seconds: f64) -> u64 {
    (seconds * 1000.0).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &str) -> (String, Option<i32>, Option<u64>) {
        let output = read(text.into());
        (output.body.decode().into_owned(), output.exit_code, output.duration_ms)
    }

    #[test]
    fn facts_before_the_output() {
        assert_eq!(
            facts(
                "Chunk ID: a1\nWall time: 0.0509 seconds\nProcess exited with code 2\nOriginal token count: 3\nOutput:\nOutput:\nno\n"
            ),
            ("Output:\nno\n".into(), Some(2), Some(51))
        );
        assert_eq!(
            facts("Wall time: 30.0 seconds\nProcess running with session ID 42\nOutput:\nhi"),
            ("hi".into(), None, Some(30_000))
        );
        assert_eq!(
            facts("Script completed\nWall time 0.2 seconds\nOutput:\ntext"),
            ("text".into(), None, Some(200))
        );
        assert_eq!(
            facts(r#"{"output":"ok\n","metadata":{"exit_code":1,"duration_seconds":0.1}}"#),
            ("ok\n".into(), Some(1), Some(100))
        );
    }

    #[test]
    fn no_fact_vanishes() {
        let output = read("Chunk ID: a1\nProcess running with session ID 42\nOriginal token count: 3\nTotal output lines: 9\nOutput:\nhi".into());
        let extra: Vec<_> =
            output.extra.iter().map(|(name, value)| (name.as_str(), value.get())).collect();
        assert_eq!(
            extra,
            [
                ("chunk_id", "\"a1\""),
                ("session_id", "\"42\""),
                ("original_token_count", "\"3\""),
                ("total_output_lines", "\"9\""),
            ]
        );
    }

    #[test]
    fn an_output_without_facts_stays_as_it_is() {
        for text in [
            "",
            "plain",
            "Output:\nx",
            r#"{"output":"x"}"#,
            "Wall time: long\nOutput:\n",
            "Script kiddies\nwere here",
        ] {
            let output = read(text.into());
            assert_eq!(output.exit_code, None, "{text}");
            assert!(text.ends_with(&*output.body.decode()), "{text}");
        }
        assert_eq!(facts("Script kiddies\nwere here").0, "Script kiddies\nwere here");
    }

    #[test]
    fn refused_and_aborted_calls_say_so() {
        let status = |text: &str| read(text.into()).status;
        assert!(matches!(status("exec command rejected by user"), Some(ToolStatus::Denied { .. })));
        assert_eq!(status("Wall time: 2.0 seconds\naborted by user"), Some(ToolStatus::Cancelled));
        assert_eq!(status("aborted by user after 5.0s"), Some(ToolStatus::Cancelled));
        assert_eq!(status("tests aborted by user"), None);
    }
}
