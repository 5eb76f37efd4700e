//! The wire types of session files: a document, or a header, messages and changes as lines.

use crate::{content, dialect::usage::take_counters, prelude::*};

/// A record: facts and messages, of which a line has one.
#[derive(Clone, Debug, Default)]
pub struct SessionRecord<'a> {
    pub facts: Session,
    pub messages: Vec<Message<'a>>,
    /// The first of the messages that were withdrawn.
    pub rewound_to: Option<Text>,
}

/// A message. It is written again, as a whole, when it grows.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    pub id: Option<Text>,
    pub at: Option<Timestamp>,
    pub kind: Author,
    pub text: Content,
    pub thoughts: Vec<Text>,
    pub calls: Vec<Call<'a>>,
    pub model: Option<Text>,
    pub usage: TokenUsage,
    /// Content of the prompt in addition to the typed text.
    pub facts: Extra,
    pub unknown: Fields<'a>,
}

/// Who wrote a message.
#[derive(Clone, Debug)]
pub enum Author {
    Agent,
    /// The person, or the program.
    Other(NormalizedEntryType),
}

/// A call with its result.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    pub id: Option<CorrId>,
    /// The session of a sub-agent that the call started.
    pub agent_id: Option<SessionId>,
    pub name: Cow<'a, str>,
    pub args: Option<Raw<'a>>,
    pub status: Cow<'a, str>,
    pub at: Option<Timestamp>,
    pub body: Option<Text>,
    pub is_error: bool,
    /// The applied change.
    pub diff: Option<Text>,
}

/// The fields of the header.
const HEADER: [&str; 4] = ["projectHash", "lastUpdated", "kind", "memoryScratchpad"];

/// `total` counts the others, and so does `tool` of the input.
const COUNTERS: [&str; 5] = ["input", "output", "cached", "", "thoughts"];

impl<'a> SessionRecord<'a> {
    pub(super) fn parse(object: &mut Object<'a>) -> Parsed<Self> {
        if let Some(mut changed) = object.object("$set") {
            let record = Self::take(&mut changed);
            object.adopt("$set", changed);
            return Parsed::Line(record);
        }
        if let Some(rewound_to) = object.text("$rewindTo") {
            return Parsed::Line(Self { rewound_to: Some(rewound_to), ..Self::default() });
        }
        if object.has_any(&["sessionId", "messages"]) {
            return Parsed::Line(Self::take(object));
        }
        match Message::take(object) {
            Some(message) => Parsed::Line(Self { messages: vec![message], ..Self::default() }),
            None => Parsed::Unknown,
        }
    }

    /// A header, or a document.
    fn take(object: &mut Object<'a>) -> Self {
        object.ignore(&HEADER);
        let facts = Session {
            session_id: object.str("sessionId").map(SessionId::from),
            started_at: object.timestamp("startTime"),
            title: object.text("summary"),
            cwd: object.texts("directories").and_then(|all| all.into_iter().next()),
            ..Session::default()
        };
        let messages = object.array("messages").unwrap_or_default().into_iter().filter_map(|raw| {
            let mut object = value::object(raw)?;
            let mut message = Message::take(&mut object)?;
            message.unknown = object.rest();
            Some(message)
        });
        Self { facts, messages: messages.collect(), rewound_to: None }
    }
}

impl<'a> Message<'a> {
    fn take(object: &mut Object<'a>) -> Option<Self> {
        let kind = match &*object.get_str("type")? {
            "gemini" => Author::Agent,
            "user" => Author::Other(NormalizedEntryType::UserMessage),
            "info" | "warning" => Author::Other(NormalizedEntryType::SystemMessage),
            "error" => Author::Other(NormalizedEntryType::ErrorMessage),
            _ => return None,
        };
        let content = object.raw("content").map(content_of).unwrap_or_default();
        let typed = object.raw("displayContent").map(content_of);
        let mut facts = Extra::new();
        if typed.as_ref().is_some_and(|typed| *typed != content) {
            facts.push(("content".to_owned(), content.text.clone().into()));
        }
        object.ignore(&["type"]);
        let thoughts = object.within_each("thoughts", |thought| {
            thought.ignore(&["timestamp"]);
            let (subject, words) = (thought.str("subject"), thought.str("description"));
            let parts: Vec<_> = subject.into_iter().chain(words).collect();
            Text::from(parts.join(": "))
        });
        let usage = object.within("tokens", |tokens| {
            let stated = take_counters(tokens, COUNTERS);
            tokens.ignore(&["tool", "total"]);
            let thought = stated.reasoning_tokens.unwrap_or(0);
            let output_tokens = stated.output_tokens.map(|output| output.saturating_add(thought));
            TokenUsage { output_tokens, ..stated }
        });
        Some(Self {
            id: object.text("id"),
            at: object.timestamp("timestamp"),
            kind,
            text: typed.unwrap_or(content),
            thoughts: thoughts.unwrap_or_default(),
            calls: object.within_each("toolCalls", Call::take).unwrap_or_default(),
            model: object.text("model"),
            usage: usage.unwrap_or_default(),
            facts,
            unknown: Fields::new(),
        })
    }
}

/// A text, or the texts of Google's parts.
fn content_of(raw: Raw<'_>) -> Content {
    let Some(parts) = value::elements(raw) else { return value::into_text(raw).into() };
    let lines = parts.into_iter().map(|part| {
        let Some(mut fields) = value::object(part) else { return value::into_text(part).into() };
        let file = fields.object("inlineData").map(|mut file| {
            let kind = file.str("mimeType").unwrap_or_default();
            content::media_of_base64(&kind, &file.str("data").unwrap_or_default())
        });
        let mut words = || fields.text("text").unwrap_or_else(|| value::into_text(part));
        file.unwrap_or_else(|| words().into())
    });
    Content::lines(lines).unwrap_or_default()
}

impl<'a> Call<'a> {
    fn take(given: &mut Object<'a>) -> Self {
        given.ignore(&["displayName", "description", "renderOutputAsMarkdown"]);
        let (mut lines, mut is_error) = (Vec::new(), false);
        for part in given.array("result").unwrap_or_default() {
            let mut part = value::object(part).unwrap_or_default();
            let response = part.object("functionResponse");
            let Some(mut response) = response.and_then(|mut it| it.object("response")) else {
                continue;
            };
            let error = response.raw("error").map(value::into_text);
            is_error |= error.is_some();
            lines.extend(error.or_else(|| response.raw("output").map(value::into_text)));
        }
        let shown = given.raw("resultDisplay").and_then(value::object);
        Self {
            id: given.corr_id("id"),
            agent_id: given.str("agentId").map(SessionId::from),
            name: given.str("name").unwrap_or_default(),
            args: given.raw("args"),
            status: given.str("status").unwrap_or_default(),
            at: given.timestamp("timestamp"),
            body: Content::lines(lines.into_iter().map(Content::from)).map(|body| body.text),
            is_error,
            diff: shown.and_then(|mut shown| shown.text("fileDiff")),
        }
    }
}
