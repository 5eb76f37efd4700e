//! The common parts of all pages: the head, the name of the program, the help.

use foldline_render::{html::SPRITE, human, terminal::neutralise_line};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// A page with this title, which is text.
pub(super) fn page(kind: &str, title: &str, body: &Markup) -> String {
    page_in_time(kind, "all", "live", title, body)
}

/// A page with a view, that shows the present (`live`), or the `past`.
pub(super) fn page_in_time(
    kind: &str,
    show: &str,
    time: &str,
    title: &str,
    body: &Markup,
) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" data-page=(kind) data-show=(show) data-time=(time) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (line(title)) " · Foldline" }
                link rel="stylesheet" href="/foldline.css";
                link rel="icon" href="/icon.svg" type="image/svg+xml";
                script src="/page.js" defer {}
            }
            body { (PreEscaped(SPRITE)) (body) }
        }
    };
    page.into_string()
}

/// Text of a log on one line: what acts is made visible, and no character is markup.
pub(super) fn line(text: &str) -> String {
    neutralise_line(text).into_owned()
}

/// Dollars for people; an estimate is marked.
pub(super) fn money(dollars: f64, is_estimated: bool) -> String {
    let mark = if is_estimated { "≈ " } else { "" };
    match dollars < 0.01 {
        true => format!("{mark}{}", human::dollars(dollars)),
        false => mark.to_owned() + &human::cents(dollars),
    }
}

/// The active time of a session, and the time from its beginning to its end where pauses make that much longer.
pub(super) fn spent(active: Option<u64>, all: Option<u64>) -> Markup {
    let (words, of) = human::active(active, all);
    html! { (words.unwrap_or_default()) @if let Some(of) = of { small { " of " (of) } } }
}

/// An icon. Words beside it say the same.
pub(super) fn icon(class: &str, symbol: &str) -> Markup {
    html! { svg class=(class) aria-hidden="true" { use href={ "#i-" (symbol) } {} } }
}

/// The name of the program, which leads to the list.
pub(super) fn brand() -> Markup {
    html! { a.brand href="/" aria-label="Foldline" { (icon("i", "fold")) span { "Foldline" } } }
}

/// The keys, what else is to be known, and the choice of colours.
pub(super) fn help(keys: &[(&[&str], &str)], more: &Markup) -> Markup {
    html! {
        div.help #help popover role="dialog" aria-labelledby="help-title" {
            h2 #help-title { "Keyboard" }
            dl {
                @for (keys, what) in keys {
                    dt { @for key in *keys { kbd { (key) } " " } }
                    dd { (what) }
                }
            }
            (more)
            div.foot {
                span #look { "Appearance" }
                fieldset.seg aria-labelledby="look" {
                    @for (value, word) in [("auto", "Auto"), ("light", "Light"), ("dark", "Dark")] {
                        label {
                            input type="radio" name="theme" value=(value) checked[value == "auto"];
                            span { (word) }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn help_button() -> Markup {
    html! {
        button class="btn bare icon" type="button" popovertarget="help" title="Keyboard and appearance" {
            kbd aria-hidden="true" { "?" }
            span.vh { "Keyboard and appearance" }
        }
    }
}

/// An error page.
pub(in crate::serve) fn failure(title: &str, what: &str) -> String {
    apology("warn", title, what, &html! { p { a href="/" { "Sessions" } } })
}

/// The page of a reader without the token, which can be entered.
pub(in crate::serve) fn locked(what: &str) -> String {
    let field = html! {
        form action="/" {
            input.field type="password" name="token" required autocomplete="off" aria-label="Token"
                placeholder="Token";
            button.btn { "Open" }
        }
        p { "It is the part of the link after " code { "?token=" } ". This browser keeps it until it is closed." }
    };
    apology("key", "This server needs its token", what, &field)
}

fn apology(symbol: &str, title: &str, what: &str, more: &Markup) -> String {
    let body = html! {
        header.top { (brand()) }
        main.page {
            section.empty { (icon("i", symbol)) h1 { (title) } p { (line(what)) } (more) }
        }
    };
    page("failure", title, &body)
}
