//! The wire types of `opencode run --format json`.

use crate::prelude::*;

/// One record of the stream: a complete part of a message, or an error.
#[derive(Clone, Debug)]
pub struct JsonLine<'a> {
    pub message_id: Option<Text>,
    pub kind: Kind<'a>,
}

#[derive(Clone, Debug)]
pub enum Kind<'a> {
    /// `step_start`: the beginning of a model call.
    StepStart,
    /// `text`.
    Text(Text),
    /// `reasoning`: printed only on request.
    Reasoning(Text),
    ToolUse(Box<ToolUse<'a>>),
    /// `step_finish`: the end of a model call, with the reason, `stop`, `tool-calls`, `length`, .., and the usage of
    /// the step.
    StepFinish(Option<Cow<'a, str>>, TokenUsage),
    /// `error`: the run failed.
    Error(OpencodeError<'a>),
}

/// An error of a run or of a message.
#[derive(Clone, Debug)]
pub struct OpencodeError<'a> {
    /// `APIError`, `MessageAbortedError`, ..
    pub name: Cow<'a, str>,
    pub message: Option<Text>,
    /// `statusCode`, `responseBody`, ..
    pub facts: Extra,
}

/// `tool_use`: a call together with its result.
#[derive(Clone, Debug)]
pub struct ToolUse<'a> {
    pub id: Option<CorrId>,
    pub name: Cow<'a, str>,
    pub input: Option<Raw<'a>>,
    pub is_error: bool,
    /// The output or the error.
    pub output: Option<Text>,
    /// A human-readable title: a path, the purpose of a command.
    pub title: Option<Text>,
    /// Further tool-specific fields.
    pub metadata: Object<'a>,
    /// Files of the output, such as images.
    pub attachments: Vec<Attachment<'a>>,
    pub ended_at: Option<Timestamp>,
}

/// A file of an output.
#[derive(Clone, Debug)]
pub struct Attachment<'a> {
    pub mime: Cow<'a, str>,
    /// The URL, often the whole file as a `data:` URL.
    pub url: Cow<'a, str>,
    pub filename: Option<Cow<'a, str>>,
}

impl<'a> JsonLine<'a> {
    pub(super) fn parse(object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Self> {
        let (field, read): (_, fn(&mut Object<'a>, &mut Header<'a>) -> Kind<'a>) =
            match &*header.name {
                "step_start" => ("part", |_, _| Kind::StepStart),
                "text" => ("part", |part, header| Kind::Text(take_text(part, header))),
                "reasoning" => ("part", |part, header| Kind::Reasoning(take_text(part, header))),
                "tool_use" => {
                    ("part", |part, header| Kind::ToolUse(Box::new(ToolUse::take(part, header))))
                }
                "step_finish" => ("part", |part, _| take_step(part)),
                "error" => ("error", |error, _| Kind::Error(OpencodeError::take(error))),
                _ => return Parsed::Unknown,
            };
        let Some(mut part) = object.object(field) else { return Parsed::Unknown };
        let kind = read(&mut part, header);
        let message_id = part.text("messageID");
        // The snapshot of the files, and data of the model's provider.
        part.ignore(&["id", "sessionID", "type", "snapshot", "metadata"]);
        object.ignore(&["sessionID"]);
        object.adopt(field, part);
        Parsed::Line(Self { message_id, kind })
    }
}

/// Takes the time of a part, which is its start; the part is printed when it is complete.
fn take_time(part: &mut Object<'_>, header: &mut Header<'_>) -> Option<Timestamp> {
    part.within("time", |time| {
        header.at = time.timestamp("start").or(header.at);
        time.ignore(&["compacted"]);
        time.timestamp("end")
    })?
}

pub(super) fn take_text(part: &mut Object<'_>, header: &mut Header<'_>) -> Text {
    take_time(part, header);
    part.text("text").unwrap_or_default()
}

impl<'a> ToolUse<'a> {
    pub(super) fn take(part: &mut Object<'a>, header: &mut Header<'a>) -> Self {
        let mut state = part.object("state").unwrap_or_default();
        let printed_at = header.at;
        let taken = Self {
            id: part.corr_id("callID").or_else(|| part.corr_id("id")),
            name: part.str("tool").unwrap_or_default(),
            input: state.raw("input"),
            is_error: state.take("status", read_status).unwrap_or(false),
            output: ["output", "error"].into_iter().find_map(|key| state.text(key)),
            title: state.text("title").filter(|title| !title.is_empty()),
            metadata: state.object("metadata").unwrap_or_default(),
            attachments: state.take("attachments", Attachment::read).unwrap_or_default(),
            ended_at: take_time(&mut state, header).or(printed_at),
        };
        part.adopt("state", state);
        taken
    }
}

/// Whether the status is `error`, not `completed`; any other word, which no release prints, is not taken.
fn read_status(raw: Raw<'_>) -> Option<bool> {
    match &*value::as_str(raw)? {
        "completed" => Some(false),
        "error" => Some(true),
        _ => None,
    }
}

impl<'a> Attachment<'a> {
    fn read(raw: Raw<'a>) -> Option<Vec<Self>> {
        let files = value::elements(raw)?.into_iter();
        files.map(|file| Self::take(&mut value::object(file)?)).collect()
    }

    pub(super) fn take(file: &mut Object<'a>) -> Option<Self> {
        let (mime, url) = (file.str("mime").unwrap_or_default(), file.str("url")?);
        Some(Self { mime, url, filename: file.str("filename") })
    }
}

fn take_step<'a>(part: &mut Object<'a>) -> Kind<'a> {
    let cost_usd = part.f64("cost");
    let tokens = part.within("tokens", take_usage).unwrap_or_default();
    Kind::StepFinish(part.str("reason"), TokenUsage { cost_usd, ..tokens })
}

/// `input` excludes cached input. `output` excludes reasoning in releases that state a total, and includes it in older
/// ones.
pub(super) fn take_usage(tokens: &mut Object<'_>) -> TokenUsage {
    let counts = |cache: &mut Object<'_>| (cache.u64("read"), cache.u64("write"));
    let (read, write) = tokens.within("cache", counts).unwrap_or_default();
    let (input, output) = (tokens.u64("input"), tokens.u64("output"));
    let (reasoning, total) = (tokens.u64("reasoning"), tokens.u64("total"));
    let sum = |counts: &[Option<u64>]| {
        counts.iter().flatten().fold(0, |sum: u64, count| sum.saturating_add(*count))
    };
    let is_apart = reasoning > output
        || total.is_some_and(|total| total >= sum(&[input, read, write, output, reasoning]));
    TokenUsage {
        input_tokens: input.map(|_| sum(&[input, read, write])),
        output_tokens: output.map(|own| if is_apart { sum(&[output, reasoning]) } else { own }),
        cache_read_tokens: read,
        cache_write_tokens: write,
        reasoning_tokens: reasoning,
        ..TokenUsage::default()
    }
}

impl<'a> OpencodeError<'a> {
    pub(super) fn take(error: &mut Object<'a>) -> Self {
        let mut data = error.object("data").unwrap_or_default();
        let message = data.text("message");
        let mut facts = data.extra(&["statusCode", "isRetryable", "providerID", "ref"]);
        facts.extend(data.extra(&["responseBody", "metadata"]));
        data.ignore(&["responseHeaders"]);
        error.adopt("data", data);
        Self { name: error.str("name").unwrap_or_default(), message, facts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_is_output_once() {
        let cache = r#""cache":{"read":100,"write":20}"#;
        for (tokens, output) in [
            (r#""input":10,"output":7,"reasoning":3,"total":140,"#, 10),
            (r#""input":10,"output":7,"reasoning":3,"total":137,"#, 7),
            (r#""input":10,"output":7,"reasoning":3,"#, 7),
            (r#""input":10,"output":3,"reasoning":7,"#, 10),
        ] {
            let tokens = format!("{{{tokens}{cache}}}");
            let usage = take_usage(&mut Object::parse(&tokens).unwrap());
            assert_eq!(
                (usage.input_tokens, usage.output_tokens),
                (Some(130), Some(output)),
                "{tokens}"
            );
        }
        assert_eq!(take_usage(&mut Object::default()), TokenUsage::default());
    }
}
