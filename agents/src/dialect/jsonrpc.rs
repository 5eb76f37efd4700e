//! JSON-RPC 2.0 in both directions: requests, and the responses to them.

use super::{anthropic::error_message, notice::Said};
use crate::prelude::*;

/// The kind of a record.
#[derive(Clone, Debug)]
pub enum Rpc<'a> {
    /// A request or a notification, by its method. Missing parameters are empty.
    Call(Cow<'a, str>, Object<'a>),
    /// The result of a request; a value other than an object is empty.
    Result(Object<'a>),
    /// The error of a request.
    Error(Said),
}

impl<'a> Rpc<'a> {
    /// Reads a record without taking fields.
    pub fn read(object: &Object<'a>) -> Option<Self> {
        let of = |field| object.get(field).and_then(value::object).unwrap_or_default();
        match (object.get_str("method"), object.get("error")) {
            (Some(method), _) => Some(Self::Call(method, of("params"))),
            (None, Some(error)) if !error.is_null() => {
                let facts = vec![("error".to_owned(), error.into())];
                let error = error_message(error).into();
                Some(Self::Error((NormalizedEntryType::ErrorMessage, error, facts)))
            }
            (None, _) => object.has("result").then(|| Self::Result(of("result"))),
        }
    }

    /// The name of the record in warnings.
    pub fn name(&self) -> Cow<'a, str> {
        match self {
            Self::Call(method, _) => method.clone(),
            Self::Result(_) => "response".into(),
            Self::Error(_) => "error".into(),
        }
    }

    /// Takes the record's id. `rest` are the remaining parameters.
    pub fn take(object: &mut Object<'a>, rest: Object<'a>) -> Option<Json> {
        let id = object.json("id");
        if object.get("result").is_some_and(|raw| raw.is_null() || raw.get().starts_with('{')) {
            object.ignore(&["result"]);
        }
        object.ignore(&["error", "jsonrpc", "method", "params"]);
        object.adopt("params", rest);
        id
    }
}
