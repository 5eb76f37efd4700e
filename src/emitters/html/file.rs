//! The frame of a page that is a file: its head, its style sheet, its script, and the policy that allows nothing else.

use base64::{Engine, prelude::BASE64_STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::{icon::SPRITE, text::line};

/// The style sheet of the page, and of live pages with the same fragments.
pub const SHEET: &str = include_str!("foldline.css");

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
            body { (PreEscaped(SPRITE)) (body) script { (PreEscaped(script)) } }
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
