//! Folds long content, and states how much is hidden.

use maud::{Markup, html};

use crate::human;

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
