//! Web searches: `web_search` items, `web_search_call`, and `web_search_end` events.

use crate::{
    action::{search, web_fetch},
    codex::{
        result::{self, CodexResult, Status},
        snake,
    },
    prelude::*,
};

/// A web search, or a page that was opened or searched.
#[derive(Clone, Debug, Default)]
pub struct WebSearch<'a> {
    /// `search`, `open_page`, `find_in_page`, `other`.
    pub kind: Cow<'a, str>,
    /// The query; several queries are joined.
    pub query: Text,
    pub url: Option<Text>,
    pub results: Option<Json>,
    pub status: Status,
}

impl<'a> WebSearch<'a> {
    /// Reads the fields of any form.
    pub fn take(object: &mut Object<'a>) -> Self {
        let mut action = object.object("action").unwrap_or_default();
        let kind = action.str("type").map(|kind| Cow::Owned(snake(&kind).into_owned()));
        let queries = action.texts("queries").filter(|queries| !queries.is_empty());
        let queries = queries.map(|queries| {
            let queries: Vec<_> = queries.iter().map(Text::decode).collect();
            Text::from(queries.join(", "))
        });
        let (url, pattern, asked) =
            (action.text("url"), action.text("pattern"), action.text("query"));
        object.adopt("action", action);
        // For an opened page, the event's own `query` is the address.
        let stated =
            object.text("query").filter(|query| !query.is_empty() && url.as_ref() != Some(query));
        // The list of queries is the most complete; the event's own `query` may be shortened.
        let query = pattern.or(queries).or(asked).or(stated);
        Self {
            kind: kind.unwrap_or(Cow::Borrowed("search")),
            query: query.unwrap_or_default(),
            url,
            results: object.json("results").filter(|results| results.get() != "[]"),
            status: Status::take(object),
        }
    }

    /// The identity of this search, for lines without an id.
    pub fn key(&self) -> String {
        let url = self.url.as_ref().map(Text::decode).unwrap_or_default();
        format!("{} {} {}", self.kind, self.query.decode(), url)
    }

    pub(super) fn call(&self) -> MappedCall {
        let url = self.url.clone();
        if let (Some(url), true) = (&url, self.query.is_empty()) {
            return web_fetch(Some(url.clone())).into();
        }
        let mut call = MappedCall::from(search(Some(self.query.clone())));
        if self.query.is_empty() {
            call.title = "web search".into();
        }
        call.extra.extend(url.map(|url| ("url".to_owned(), Json::from(url))));
        call
    }

    pub(super) fn result(&self) -> CodexResult {
        result::of_status(&self.status, self.results.clone().map(ToolResult::Json))
    }
}
