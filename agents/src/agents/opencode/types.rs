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
    /// The output in blocks.
    pub content: Option<Raw<'a>>,
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
            content: None,
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
    let counts = part.within("tokens", Counts::take).unwrap_or_default();
    Kind::StepFinish(part.str("reason"), counts.usage(cost_usd))
}

/// The tokens of a request as they are logged: `input` excludes cached input.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    input: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    total: Option<u64>,
}

impl Counts {
    pub(super) fn take(tokens: &mut Object<'_>) -> Self {
        let counts = |cache: &mut Object<'_>| (cache.u64("read"), cache.u64("write"));
        let (cache_read, cache_write) = tokens.within("cache", counts).unwrap_or_default();
        Self {
            input: tokens.u64("input"),
            output: tokens.u64("output"),
            reasoning: tokens.u64("reasoning"),
            cache_read,
            cache_write,
            total: tokens.u64("total"),
        }
    }

    /// The usage. `output` excludes reasoning in releases that state a total, and includes it in older ones. A cost of 0
    /// is that of a subscription, which states no price.
    pub(super) fn usage(self, cost_usd: Option<f64>) -> TokenUsage {
        let Self { input, output, reasoning, cache_read, cache_write, total } = self;
        let sum = |counts: &[Option<u64>]| {
            counts.iter().flatten().fold(0, |sum: u64, count| sum.saturating_add(*count))
        };
        let all = sum(&[input, cache_read, cache_write, output, reasoning]);
        let is_apart = reasoning > output || total.is_some_and(|total| total >= all);
        TokenUsage {
            input_tokens: input.map(|_| sum(&[input, cache_read, cache_write])),
            output_tokens: output.map(|own| if is_apart { sum(&[output, reasoning]) } else { own }),
            cache_read_tokens: cache_read,
            cache_write_tokens: cache_write,
            reasoning_tokens: reasoning,
            cost_usd: cost_usd.filter(|cost| *cost != 0.0 || all == 0),
            ..TokenUsage::default()
        }
    }

    /// The identity of a request that began and ended at these times: a fork copies messages under new ids, with their
    /// times.
    pub(super) fn request(
        self,
        model: Option<&Text>,
        times: [Option<Timestamp>; 2],
    ) -> Option<Text> {
        let [begun, ended] = times.map(|time| time.map(Timestamp::as_millis));
        let (begun, ended) = (begun?, ended.unwrap_or_default());
        let model = model.map(Text::decode).unwrap_or_default();
        let Self { input, output, reasoning, cache_read, cache_write, .. } = self;
        let counts = [input, output, reasoning, cache_read, cache_write];
        let counts = counts.map(|count| count.unwrap_or_default().to_string()).join("-");
        Some(Text::from(format!("opencode:{begun}-{ended}:{counts}:{model}")))
    }
}

impl<'a> OpencodeError<'a> {
    pub(super) fn take(error: &mut Object<'a>) -> Self {
        let mut data = error.object("data").unwrap_or_default();
        let message = data.text("message").or_else(|| error.text("message"));
        let mut facts = data.extra(&["statusCode", "isRetryable", "providerID", "ref"]);
        facts.extend(data.extra(&["responseBody", "metadata"]));
        data.ignore(&["responseHeaders"]);
        error.adopt("data", data);
        let name = error.str("name").or_else(|| error.str("type"));
        Self { name: name.unwrap_or_default(), message, facts }
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
            let usage = Counts::take(&mut Object::parse(&tokens).unwrap()).usage(None);
            assert_eq!(
                (usage.input_tokens, usage.output_tokens),
                (Some(130), Some(output)),
                "{tokens}"
            );
        }
        assert_eq!(Counts::take(&mut Object::default()).usage(None), TokenUsage::default());
    }

    #[test]
    fn a_cost_of_zero_is_no_price_of_tokens() {
        for (tokens, cost, expected) in [
            (r#"{"input":10,"output":7}"#, 0.0, None),
            (r#"{"input":10,"output":7}"#, 0.5, Some(0.5)),
            (r#"{"input":0,"output":0}"#, 0.0, Some(0.0)),
        ] {
            let counts = Counts::take(&mut Object::parse(tokens).unwrap());
            assert_eq!(counts.usage(Some(cost)).cost_usd, expected, "{tokens}");
        }
    }
}
