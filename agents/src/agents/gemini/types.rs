//! The wire types of `gemini --output-format stream-json`.

use crate::prelude::*;

/// One record of the stream.
#[derive(Clone, Debug)]
pub enum JsonLine<'a> {
    /// `init`: the beginning of a run with this model.
    Init(Option<Text>),
    /// The whole prompt, then the agent's answers in chunks.
    Message {
        /// `user` or `assistant`.
        role: Cow<'a, str>,
        content: Text,
        /// Whether the content continues the previous message.
        is_delta: bool,
    },
    ToolUse {
        id: Option<CorrId>,
        name: Cow<'a, str>,
        parameters: Option<Raw<'a>>,
    },
    ToolResult {
        id: Option<CorrId>,
        is_error: bool,
        /// The part of the result for the user, which may be empty.
        output: Option<Text>,
        error: Option<Failure>,
    },
    /// A `warning` or an `error` that does not end the run.
    Error(Cow<'a, str>, Text),
    Result(RunResult),
}

/// An error.
#[derive(Clone, Debug, Default)]
pub struct Failure {
    /// `tool_not_registered`, `FatalTurnLimitedError`, ..
    pub kind: Option<Text>,
    pub message: Option<Text>,
}

/// `result`: the end of the run.
#[derive(Clone, Debug)]
pub struct RunResult {
    pub is_error: Option<bool>,
    pub error: Option<Failure>,
    pub duration_ms: Option<u64>,
    /// The usage by model, or the total usage in releases without it.
    pub usage: Vec<(Option<Text>, TokenUsage)>,
}

impl<'a> JsonLine<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &Header<'a>) -> Parsed<Self> {
        Parsed::Line(match &*header.name {
            "init" => {
                object.ignore(&["session_id"]);
                Self::Init(object.text("model"))
            }
            "message" => Self::Message {
                role: object.str("role").unwrap_or_default(),
                content: object.text("content").unwrap_or_default(),
                is_delta: object.bool("delta").unwrap_or(false),
            },
            "tool_use" => Self::ToolUse {
                id: object.corr_id("tool_id"),
                name: object.str("tool_name").unwrap_or_default(),
                parameters: object.raw("parameters"),
            },
            "tool_result" => Self::ToolResult {
                id: object.corr_id("tool_id"),
                is_error: take_status(object).unwrap_or(false),
                output: object.raw("output").map(value::into_text),
                error: Failure::take(object),
            },
            "error" => Self::Error(
                object.str("severity").unwrap_or_default(),
                object.text("message").unwrap_or_default(),
            ),
            "result" => Self::Result(RunResult::take(object)),
            _ => return Parsed::Unknown,
        })
    }
}

impl Failure {
    fn take(object: &mut Object<'_>) -> Option<Self> {
        let read = |error: &mut Object<'_>| Self {
            kind: error.text("type"),
            message: error.text("message"),
        };
        object.within("error", read)
    }
}

impl RunResult {
    fn take(object: &mut Object<'_>) -> Self {
        let mut stats = object.object("stats").unwrap_or_default();
        let taken = Self {
            is_error: take_status(object),
            error: Failure::take(object),
            duration_ms: stats.u64("duration_ms"),
            usage: {
                let total = take_usage(&mut stats);
                let of_model =
                    |name: &str, model: &mut _| (Some(Text::from(name)), take_usage(model));
                let models = stats.within_values("models", of_model);
                models.unwrap_or_else(|| vec![(None, total)])
            },
        };
        // Calls are counted from their own records.
        stats.ignore(&["tool_calls"]);
        object.adopt("stats", stats);
        taken
    }
}

/// Takes whether the status is `error`, not `success`; any other word is not taken.
fn take_status(object: &mut Object<'_>) -> Option<bool> {
    object.take("status", |raw| match &*value::as_str(raw)? {
        "success" => Some(false),
        "error" => Some(true),
        _ => None,
    })
}

/// `input_tokens` includes cached input. `output_tokens` excludes reasoning, which only the total includes.
fn take_usage(stats: &mut Object<'_>) -> TokenUsage {
    let (input, output) = (stats.u64("input_tokens"), stats.u64("output_tokens"));
    let answered = input.zip(output).map(|(input, output)| input.saturating_add(output));
    let total = stats.u64("total_tokens");
    let reasoning = total.zip(answered).and_then(|(total, answered)| total.checked_sub(answered));
    // Uncached input.
    stats.ignore(&["input"]);
    TokenUsage {
        input_tokens: input,
        output_tokens: output.map(|output| output.saturating_add(reasoning.unwrap_or(0))),
        cache_read_tokens: stats.u64("cached"),
        reasoning_tokens: reasoning,
        ..TokenUsage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Input, output and reasoning of each model.
    fn usages(stats: &str) -> Vec<(String, [Option<u64>; 3])> {
        let record = format!(r#"{{"status":"success","stats":{stats}}}"#);
        let usage = RunResult::take(&mut Object::parse(&record).unwrap()).usage;
        let usage = usage.into_iter().map(|(model, usage)| {
            let counts = [usage.input_tokens, usage.output_tokens, usage.reasoning_tokens];
            (model.unwrap_or_default().to_string(), counts)
        });
        usage.collect()
    }

    #[test]
    fn what_the_total_exceeds_is_reasoning() {
        for (stats, counts) in [
            (
                r#"{"total_tokens":120,"input_tokens":90,"output_tokens":10}"#,
                [Some(90), Some(30), Some(20)],
            ),
            (
                r#"{"total_tokens":5,"input_tokens":90,"output_tokens":10}"#,
                [Some(90), Some(10), None],
            ),
            (r#"{"input_tokens":90,"output_tokens":10}"#, [Some(90), Some(10), None]),
            ("{}", [None, None, None]),
        ] {
            assert_eq!(usages(stats), [(String::new(), counts)], "{stats}");
        }
    }

    #[test]
    fn the_models_say_what_the_total_says() {
        let model = r#"{"total_tokens":3,"input_tokens":2,"output_tokens":1}"#;
        for (models, name) in [
            (format!(r#"{{"m":{model}}}"#), "m"),
            (format!(r#"{{"m":{model},"n":7}}"#), ""),
            ("{}".to_owned(), ""),
            ("7".to_owned(), ""),
        ] {
            let stats = model.replace('}', &format!(r#","models":{models}}}"#));
            let counts = [Some(2), Some(1), Some(0)];
            assert_eq!(usages(&stats), [(name.to_owned(), counts)], "{stats}");
        }
    }
}
