//! The skeleton of a standalone page: head, style sheet, script, and its CSP.

use base64::{Engine, prelude::BASE64_STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, Render, html};
use sha2::{Digest, Sha256};

use super::{icon::SPRITE, text::line};

/// The style sheet of the page, and of live pages with the same fragments.
pub const SHEET: &str = include_str!("foldline.css");

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
