//! [`Page`]: the whole session as one file with its style sheet, its script and their CSP.

mod about;
mod facts;
mod history;
mod shared_vec;
mod side;
mod snapshot;

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use foldline::transduce::{Batch, Emitter};
use foldline_domain::{
    DomainEvent,
    pricing::{CostBasis, Prices, Requests},
};
use jiff::tz::TimeZone;
use maud::{DOCTYPE, Markup, PreEscaped, Render, html};
use sha2::{Digest, Sha256};

pub(super) use self::facts::Facts;
pub use self::{about::Totals, history::History, snapshot::Snapshot};
use self::{
    facts::{About, EventFacts},
    snapshot::Feed,
};
use super::{
    emitter::HtmlEmitter,
    fragment::Fragment,
    label::{SPRITE, icon},
    text::line,
    time::Clock,
};

/// The script that marks words, colours code, shows the calls of one tool and copies, for files and for live pages.
pub const SHARED_SCRIPT: &str = concat!(
    include_str!("../script/marks.js"),
    include_str!("../script/code.js"),
    include_str!("../script/filters.js"),
    include_str!("../script/answers.js"),
    include_str!("../script/copy.js")
);

/// What a page can show of its entries: the names, and the words for people.
pub const VIEWS: [(&str, &str); 5] = [
    ("all", "All"),
    ("talk", "Talk"),
    ("answers", "Answers"),
    ("calls", "Calls"),
    ("bad", "Failures"),
];

/// The script of a file.
const FILE: &str = include_str!("../script/file.js");

/// A session as one HTML file: its facts, its entries, and a side column with the prompts, tools, changed files and
/// models.
///
/// It holds the rendered entries, and is therefore as large as the page.
#[derive(Debug, Default)]
pub struct Page {
    emitter: HtmlEmitter,
    shown: Snapshot,
    note: Option<String>,
    prices: Option<Arc<Prices>>,
}

impl Page {
    /// A page with estimated costs where the log does not state them.
    pub fn with_prices(prices: impl Into<Arc<Prices>>) -> Self {
        Self { prices: Some(prices.into()), ..Self::default() }
    }

    /// The page has a server, which is asked for the origin of entries and for pictures; see
    /// [`HtmlEmitter::served`].
    #[must_use]
    pub fn served(mut self) -> Self {
        self.emitter = self.emitter.served();
        Arc::make_mut(&mut self.shown.facts).is_served = true;
        self
    }

    /// Shows all times in this zone instead of UTC, and names it. Set it before the first event.
    #[must_use]
    pub fn in_zone(mut self, zone: TimeZone) -> Self {
        self.shown.clock = Clock(zone.clone());
        self.emitter = self.emitter.in_zone(zone);
        self
    }

    /// Applies one event.
    pub fn apply(&mut self, event: &DomainEvent) {
        if let (Some(fragment), _) = self.step(event) {
            self.shown.put(fragment);
        }
    }

    /// Applies one event, and returns the resulting change, for live pages.
    pub fn fragment(&mut self, event: &DomainEvent) -> Option<Fragment> {
        let (fragment, _) = self.step(event);
        fragment.inspect(|fragment| {
            self.put(fragment);
        })
    }

    /// The log has ended: growing entries are complete. Returns the resulting changes.
    pub fn end(&mut self) -> Vec<Fragment> {
        let remaining = self.remaining();
        for fragment in &remaining {
            self.put(fragment);
        }
        remaining
    }

    /// Collects the facts of an event, and creates its fragment, which is not inserted yet.
    fn step(&mut self, event: &DomainEvent) -> (Option<Fragment>, EventFacts) {
        let unknown = self.emitter.unknown();
        let fragment = self.emitter.fragment(event);
        let about = match &fragment {
            Some(fragment) => About::Entry(fragment.index),
            None if self.emitter.unknown() > unknown => About::Unknown,
            None => About::Session,
        };
        let facts =
            EventFacts { about, estimated: self.estimated(event), context: self.context(event) };
        Arc::make_mut(&mut self.shown.facts).apply(event, facts);
        (fragment, facts)
    }

    /// The estimated cost of tokens whose cost the log does not state.
    fn estimated(&self, event: &DomainEvent) -> Option<f64> {
        let DomainEvent::Usage { usage, model, message_id, timestamp } = event else {
            return None;
        };
        let model = self.shown.facts.model(model.as_ref());
        let requests = if message_id.is_some() { Requests::One } else { Requests::Several };
        let cost = self.prices.as_ref()?.cost(&model, usage, requests, *timestamp)?;
        (cost.basis == CostBasis::Estimated).then_some(cost.usd)
    }

    /// The tokens of a request, and the context window of its model.
    fn context(&self, event: &DomainEvent) -> Option<(u64, u64)> {
        let DomainEvent::Usage { usage, model, message_id: Some(_), .. } = event else {
            return None;
        };
        let window = self.prices.as_ref()?.window(&self.shown.facts.model(model.as_ref()))?;
        Some((usage.input_tokens?.saturating_add(usage.output_tokens.unwrap_or(0)), window))
    }

    fn remaining(&mut self) -> Vec<Fragment> {
        self.emitter.remaining().collect()
    }

    fn put(&mut self, fragment: &Fragment) -> &Snapshot {
        self.shown.put(fragment.clone());
        &self.shown
    }

    /// Adds a note at the end of the page.
    pub fn set_note(&mut self, note: impl Into<String>) {
        self.note = Some(note.into());
    }

    /// The current content.
    pub fn snapshot(&self) -> &Snapshot {
        &self.shown
    }

    /// The page as HTML.
    pub fn render(&self) -> String {
        let shown = &self.shown;
        let title = shown.facts.title();
        let body = html! {
            a class="skip vh" href="#feed" { "Skip to the conversation" }
            (top(&title))
            main class="page session" {
                (shown.render_about())
                div.feed #feed role="feed" aria-label="Conversation" { (Feed(shown)) }
                (shown.render_side())
                @if let Some(note) = &self.note {
                    footer.colophon { pre.out { (super::text::text(&**note)) } }
                }
            }
        };
        file("export", &title, &[SHARED_SCRIPT, FILE].concat(), &body)
    }

    pub(super) fn facts(&self) -> &Facts {
        &self.shown.facts
    }
}

/// Clones count their entries apart.
impl Clone for Page {
    fn clone(&self) -> Self {
        let Self { emitter, shown, note, prices } = self;
        let (shown, note, prices) = (shown.clone(), note.clone(), prices.clone());
        Self { emitter: emitter.apart(), shown, note, prices }
    }
}

/// Emits nothing: the page is [`render`](Page::render)ed at the end.
impl Emitter<DomainEvent, std::convert::Infallible> for Page {
    fn emit(&mut self, event: &DomainEvent) -> Batch<std::convert::Infallible> {
        self.apply(event);
        Batch::EMPTY
    }

    fn finish(&mut self) -> Batch<std::convert::Infallible> {
        self.end();
        Batch::EMPTY
    }
}

fn top(title: &str) -> Markup {
    html! {
        header.top data-two {
            span.brand { (icon("i", "fold")) span { "Foldline" } }
            div.crumbs { ol { li { (line(title)) } } }
            (shown())
            form.find #find role="search" {
                (icon("i", "search"))
                input.field type="search" placeholder="Find" aria-label="Find in session" autocomplete="off";
                span.hits role="status" {}
            }
            button class="btn bare icon to-side" type="button" popovertarget="side" {
                (icon("i", "side"))
                span.vh { "Turns and usage" }
            }
        }
    }
}

/// The choice of the entries that are shown.
fn shown() -> Markup {
    html! {
        fieldset.seg {
            legend.vh { "Show" }
            @for (value, word) in VIEWS {
                label {
                    input type="radio" name="show" value=(value) checked[value == "all"] autocomplete="off";
                    span { (word) }
                }
            }
        }
    }
}

/// The style sheet of the page, and of live pages with the same fragments.
pub const SHEET: &str = include_str!("../foldline.css");

/// The room for the rest of a page after its content. Without it, the buffer of a large page would be doubled for that.
pub(super) const REST: usize = 256 << 10;

/// The content of a page, and room for the rest.
struct WithRoom<'c>(&'c Markup);

impl Render for WithRoom<'_> {
    fn render_to(&self, html: &mut String) {
        html.reserve(self.0.0.len() + REST);
        html.push_str(&self.0.0);
    }
}

/// A whole page with this content. `kind` is the kind of page in the style sheet.
pub(super) fn file(kind: &str, title: &str, script: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" data-page=(kind) data-show="all" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(script));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (line(title)) " · Foldline" }
                style { (PreEscaped(SHEET)) }
            }
            body { (PreEscaped(SPRITE)) (WithRoom(body)) script { (PreEscaped(script)) } }
        }
    };
    page.into_string()
}

/// Nothing may be loaded, only the page's own style sheet and script apply, and pictures are part of the page.
fn policy(script: &str) -> String {
    let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text.as_bytes()));
    let (sheet, script) = (hash(SHEET), hash(script));
    format!(
        "default-src 'none'; style-src 'sha256-{sheet}'; script-src 'sha256-{script}'; img-src data:; \
         base-uri 'none'; form-action 'none'"
    )
}
