//! Program output as a terminal shows it, in the requested colours; long content is folded.

use maud::{Markup, PreEscaped, Render, html};

use super::text::text;
use crate::{
    human,
    text::printed::{self, styled_parts},
};

const OUTPUT: Extent = Extent { head: 10, tail: 24 };

/// Output as `<pre class="out">`; the middle of a long output is folded.
pub(super) fn output(printed: &str) -> Markup {
    let printed = printed::printed(printed);
    let printed = trim_lines(&printed);
    if printed.is_empty() {
        return html! {};
    }
    let Parts { head, folded: middle, tail } = OUTPUT.split(printed);
    let mut style = Style::default();
    match middle {
        None => html! { pre.out { (style.render(head)) } },
        Some((middle, lines)) => {
            let head = style.render(head);
            let middle = style.render(middle);
            html! {
                pre class="out head" { (head) }
                (folded(lines, "more line", &html! { pre.out { (middle) } }))
                pre.out { (style.render(tail)) }
            }
        }
    }
}

/// Removes empty lines at the beginning, and white space at the end.
pub(super) fn trim_lines(text: &str) -> &str {
    let text = text.trim_end();
    let indent = text.len() - text.trim_start().len();
    let start = text.get(..indent).and_then(|space| space.rfind('\n')).map_or(0, |at| at + 1);
    text.get(start..).unwrap_or_default()
}

/// The style of the following text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Style {
    /// Whether 1, 2, 3, 4 are set: bold, faint, italic, underlined.
    set: [bool; 4],
    /// 30 to 37, 90 to 97.
    foreground: Option<u16>,
    /// 40 to 47, 100 to 107.
    background: Option<u16>,
}

impl Style {
    /// Renders text, and keeps the style at its end for the following text.
    fn render(&mut self, printed: &str) -> Markup {
        let mut html = String::with_capacity(printed.len() + printed.len() / 8);
        for (part, style) in styled_parts(printed) {
            if *self == Self::default() {
                text(part).render_to(&mut html);
            } else if !part.is_empty() {
                html! { span class=(self.classes()) { (text(part)) } }.render_to(&mut html);
            }
            style.into_iter().for_each(|parameters| self.apply(parameters));
        }
        PreEscaped(html)
    }

    fn classes(&self) -> String {
        let set = (1..).zip(self.set).filter_map(|(code, is_set)| is_set.then_some(code));
        let codes = set.chain(self.foreground).chain(self.background);
        codes.map(|code: u16| format!("sgr-{code}")).collect::<Vec<_>>().join(" ")
    }

    /// Applies the parameters of a sequence. Unknown parameters are ignored.
    fn apply(&mut self, parameters: &str) {
        let mut codes =
            parameters.split([';', ':']).map(|code| code.parse::<u16>().ok().or(none_is_0(code)));
        while let Some(code) = codes.next() {
            match code.unwrap_or(u16::MAX) {
                0 => *self = Self::default(),
                code @ 1..=4 => self.put(code, true),
                22 => {
                    self.put(1, false);
                    self.put(2, false);
                }
                code @ 23..=24 => self.put(code - 20, false),
                code @ (30..=37 | 90..=97) => self.foreground = Some(code),
                code @ (40..=47 | 100..=107) => self.background = Some(code),
                39 => self.foreground = None,
                49 => self.background = None,
                38 => self.foreground = named(&mut codes).or(self.foreground),
                48 => self.background = named(&mut codes).map(|code| code + 10).or(self.background),
                _ => {}
            }
        }
    }

    fn put(&mut self, code: u16, value: bool) {
        if let Some(set) = self.set.get_mut(usize::from(code) - 1) {
            *set = value;
        }
    }
}

/// An omitted parameter is zero.
fn none_is_0(code: &str) -> Option<u16> {
    code.is_empty().then_some(0)
}

/// The nearest of the 16 colours to a 256-colour or true-colour value, as a foreground code.
fn named(codes: &mut impl Iterator<Item = Option<u16>>) -> Option<u16> {
    match codes.next()?? {
        5 => Some(match codes.next()?? {
            n @ 0..=7 => 30 + n,
            n @ 8..=15 => 90 + n - 8,
            n @ 16..=231 => {
                let level = |n: u16| u16::min(n * 51, 255);
                let n = n - 16;
                nearest([level(n / 36), level(n / 6 % 6), level(n % 6)])
            }
            n => nearest([u16::min((n - 231) * 10, 255); 3]),
        }),
        2 => {
            let mut level = || codes.next().flatten();
            Some(nearest([level()?, level()?, level()?]))
        }
        _ => None,
    }
}

/// Each strong channel sets one bit of the colour, as the eight colours are numbered.
fn nearest(channels: [u16; 3]) -> u16 {
    let [low, high] = [channels.iter().min(), channels.iter().max()].map(|n| *n.unwrap_or(&0));
    if high - low < 32 {
        return match high {
            0..64 => 30,
            64..160 => 90,
            _ => 37,
        };
    }
    let middle = low.midpoint(high);
    let [red, green, blue] = channels.map(|channel| u16::from(channel > middle));
    30 + red + 2 * green + 4 * blue
}

/// The number of lines of a long text shown before and after the fold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) head: usize,
    pub(super) tail: usize,
}

/// A text in up to three parts, of which the middle one is folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts<'t> {
    pub(super) head: &'t str,
    /// The folded text and its number of lines.
    pub(super) folded: Option<(&'t str, usize)>,
    pub(super) tail: &'t str,
}

impl Extent {
    /// Folding fewer lines is not worth a click.
    const LEAST: usize = 8;

    pub(super) fn split(self, text: &str) -> Parts<'_> {
        let all = text.split_inclusive('\n').count();
        let Some(folded) = all.checked_sub(self.head + self.tail).filter(|n| *n >= Self::LEAST)
        else {
            return Parts { head: text, folded: None, tail: "" };
        };
        let lines = |n: usize| text.split_inclusive('\n').take(n).map(str::len).sum::<usize>();
        let (before, tail) = text.split_at(lines(self.head + folded));
        let (head, middle) = before.split_at(lines(self.head));
        Parts { head, folded: Some((middle, folded)), tail }
    }
}

/// Folds a number of items.
pub(super) fn folded(n: usize, thing: &str, body: &Markup) -> Markup {
    html! {
        details.fold { summary { (human::number_of(n, thing)) } (body) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_classes_and_other_sequences_are_obeyed() {
        let html = output("\x1b[1;31merror\x1b[0m: <b>\x1b]0;title\x07 \x1b[2J\n5 %\r9 %\x1b[")
            .into_string();
        let expected =
            "<pre class=\"out\"><span class=\"sgr-1 sgr-31\">error</span>: &lt;b&gt; \n9 %␛[</pre>";
        assert_eq!(html, expected);
    }

    #[test]
    fn many_colours_are_the_nearest_of_sixteen() {
        let code = |parameters: &str| {
            let mut style = Style::default();
            style.apply(parameters);
            style.classes()
        };
        assert_eq!(code("38;5;196"), "sgr-31");
        assert_eq!(code("38;2;20;200;30;1"), "sgr-1 sgr-32");
        assert_eq!(code("48;5;9"), "sgr-101");
        assert_eq!(code("38;5;244;38;9;;31"), "sgr-31");
        assert_eq!(code("1;;4"), "sgr-4");
        assert_eq!(code("38;2;1"), "");
        assert_eq!(code("99999999;7;255"), "");
    }

    #[test]
    fn a_colour_goes_on_across_a_fold() {
        let lines = (0..60).map(|n| format!("{n}\n")).collect::<String>();
        let html = output(&format!("\x1b[32m{lines}")).into_string();
        assert!(html.contains("<summary>26 more lines</summary>"), "{html}");
        assert_eq!(html.matches(r#"<span class="sgr-32">"#).count(), 3);
    }

    #[test]
    fn the_parts_are_the_text() {
        let extent = Extent { head: 2, tail: 1 };
        let text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12";
        let Parts { head, folded, tail } = extent.split(text);
        assert_eq!((head, tail), ("1\n2\n", "12"));
        assert_eq!(folded, Some(("3\n4\n5\n6\n7\n8\n9\n10\n11\n", 9)));
        let short = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10";
        assert_eq!(extent.split(short), Parts { head: short, folded: None, tail: "" });
    }
}
