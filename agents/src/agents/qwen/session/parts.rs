//! The parts of a message in Google's API.

use crate::{content, prelude::*};

/// A part of a message with its unknown fields.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    pub kind: PartKind<'a>,
    pub unknown: Fields<'a>,
}

/// A part of a message.
#[derive(Clone, Debug)]
pub enum PartKind<'a> {
    Text(Content),
    /// A text with the flag `thought`.
    Thought(Text),
    /// `functionCall`: a tool call.
    Call {
        id: Option<CorrId>,
        name: Cow<'a, str>,
        args: Option<Raw<'a>>,
    },
    /// `functionResponse`: a tool result.
    Response(Response),
    /// `inlineData` and `fileData`: the placeholder of a file, perhaps with its picture.
    Media(Content),
    /// An unknown type.
    Unknown(Raw<'a>),
}

/// The part of a tool's result for the model.
#[derive(Clone, Debug, Default)]
pub struct Response {
    pub id: Option<CorrId>,
    pub name: Option<Text>,
    /// Whether it is an error.
    pub is_error: bool,
    /// The text, with placeholders for files, and its pictures.
    pub body: Option<Content>,
}

/// Takes the parts of a message.
pub(super) fn take<'a>(message: &mut Object<'a>) -> Vec<Part<'a>> {
    message.ignore(&["role"]);
    message.array("parts").unwrap_or_default().into_iter().map(Part::read).collect()
}

/// A file belongs to the words before it: together they are one part.
pub(super) fn joined(parts: Vec<Part<'_>>) -> Vec<Part<'_>> {
    let mut joined: Vec<Part<'_>> = Vec::with_capacity(parts.len());
    for mut part in parts {
        if let PartKind::Media(file) = &mut part.kind
            && let Some(Part { kind: PartKind::Text(words), unknown }) = joined.last_mut()
        {
            words.push("\n", std::mem::take(file));
            unknown.append(&mut part.unknown);
        } else {
            joined.push(part);
        }
    }
    joined
}

impl<'a> Part<'a> {
    /// A text part.
    pub(super) fn text(text: Text) -> Self {
        Self { kind: PartKind::Text(text.into()), unknown: Fields::new() }
    }

    fn read(raw: Raw<'a>) -> Self {
        let part = value::object(raw).and_then(|mut part| {
            let kind = PartKind::take(&mut part)?;
            part.ignore(&["thoughtSignature"]);
            Some(Self { kind, unknown: part.rest() })
        });
        part.unwrap_or_else(|| Self { kind: PartKind::Unknown(raw), unknown: Fields::new() })
    }
}

impl Part<'_> {
    /// Whether it is the result of this call.
    pub(super) fn answers(&self, call: Option<&Text>) -> bool {
        let PartKind::Response(Response { id: Some(id), .. }) = &self.kind else { return false };
        call.is_some_and(|call| *call == *id.as_str())
    }

    /// Whether its text contains `json`.
    pub(super) fn tells(&self, json: &Json) -> bool {
        match (&self.kind, serde_json::from_str::<Text>(json.get())) {
            (PartKind::Text(said), Ok(told)) => said.text.decode().contains(&*told.decode()),
            _ => false,
        }
    }
}

impl<'a> PartKind<'a> {
    fn take(part: &mut Object<'a>) -> Option<Self> {
        if let Some(text) = part.text("text") {
            let is_thought = part.bool("thought").unwrap_or(false);
            return Some(if is_thought { Self::Thought(text) } else { Self::Text(text.into()) });
        }
        let call = part.within("functionCall", |call| Self::Call {
            id: call.corr_id("id"),
            name: call.str("name").unwrap_or_default(),
            args: call.raw("args"),
        });
        let response = || part.within("functionResponse", Response::take).map(Self::Response);
        call.or_else(response).or_else(|| take_media(part).map(Self::Media))
    }
}

fn take_media(part: &mut Object<'_>) -> Option<Content> {
    let inline = part.within("inlineData", |file| {
        let media_type = file.str("mimeType").unwrap_or_default();
        content::media_of_base64(&media_type, &file.str("data").unwrap_or_default())
    });
    inline.or_else(|| {
        part.within("fileData", |file| {
            file.ignore(&["mimeType"]);
            format!("[file: {}]", file.str("fileUri").unwrap_or_default()).into()
        })
    })
}

impl Response {
    fn take(object: &mut Object<'_>) -> Self {
        let mut told = object.object("response").unwrap_or_default();
        let error = told.raw("error").map(value::into_text);
        let is_error = error.is_some();
        let output = told.raw("output").map(value::into_text);
        object.adopt("response", told);
        let files = object.array("parts").unwrap_or_default().into_iter().map(|raw| {
            let media = value::object(raw).and_then(|mut part| take_media(&mut part));
            media.unwrap_or_else(|| raw.get().into())
        });
        let words = error.into_iter().chain(output).map(Content::from);
        let body = Content::lines(words.chain(files));
        Self { id: object.corr_id("id"), name: object.text("name"), is_error, body }
    }
}
