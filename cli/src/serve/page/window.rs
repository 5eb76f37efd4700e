//! [`Window`]: the loaded entries of a long session, and gaps for the others.

use std::{iter::once, ops::Range};

use foldline_domain::EntryIdx;
use foldline_render::{html::Snapshot, human};
use maud::html;

/// The largest number of top-level entries of a session that is loaded as a whole.
const MOST: usize = 400;

/// The number of entries that are loaded from the beginning and the end of a longer session.
const FIRST: usize = 20;
const LAST: usize = 200;

/// The number of entries that are loaded for a past moment, which is drawn repeatedly.
const RECENT: usize = 80;

/// The number of entries that are loaded for a gap, and how many of them precede the requested entry.
const SEGMENT: usize = 200;
const BEFORE: usize = 50;

/// The requested entries of a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::serve) enum Wanted {
    First,
    Last,
    /// The entries around this entry.
    Around(usize),
}

/// The parts of a session on a page: top-level entries with their nested entries, and gaps.
#[derive(Clone, Copy)]
pub(in crate::serve) struct Window<'s> {
    shown: &'s Snapshot,
    /// The shown moment; `None` for the present.
    moment: Option<usize>,
}

impl<'s> Window<'s> {
    /// Parts of the session at present.
    pub(in crate::serve) fn of(shown: &'s Snapshot) -> Self {
        Self { shown, moment: None }
    }

    /// Parts of the session at a moment.
    pub(in crate::serve) fn at(shown: &'s Snapshot, moment: Option<usize>) -> Self {
        Self { shown, moment }
    }

    /// All entries of the session, or the first, the last, and those around the requested entry.
    pub(in crate::serve) fn feed(&self, around: Option<usize>) -> Vec<String> {
        let all = 0..self.shown.outermost_count();
        let len = all.len();
        if len <= MOST {
            return self.parts(all.clone(), once(all), usize::MAX);
        }
        let around = around.and_then(|index| {
            let root = self.shown.outermost_of(EntryIdx::new(index))?;
            Some(self.near(root, &all))
        });
        let shown = once(0..FIRST).chain(around).chain(once(len - LAST..len));
        self.parts(all, shown, usize::MAX)
    }

    /// The last entries.
    pub(in crate::serve) fn recent(&self) -> Vec<String> {
        let len = self.shown.outermost_count();
        self.parts(0..len, once(len.saturating_sub(RECENT)..len), usize::MAX)
    }

    /// Some entries of the gap from `first` to `last`, and gaps for the others.
    pub(in crate::serve) fn segment(&self, first: usize, last: usize, wanted: Wanted) -> String {
        let end = last.saturating_add(1);
        let place = |index| self.shown.outermost_before(EntryIdx::new(index));
        let start = place(first);
        let all = start..place(end).max(start);
        let shown = match wanted {
            Wanted::First => all.start..all.end.min(all.start + SEGMENT),
            Wanted::Last => all.end.saturating_sub(SEGMENT).max(all.start)..all.end,
            Wanted::Around(index) => {
                let index = EntryIdx::new(index);
                self.near(self.shown.outermost_of(index).unwrap_or(index), &all)
            }
        };
        self.parts(all, once(shown), end).concat()
    }

    /// The entries in these ranges of places among the top-level entries, which are in order and may overlap, and gaps
    /// for the others of `all`. `end` is the index after the last entry.
    fn parts(
        &self,
        all: Range<usize>,
        shown: impl Iterator<Item = Range<usize>>,
        end: usize,
    ) -> Vec<String> {
        let index = |place: usize| match self.shown.outermost_at(place) {
            Some(index) if place < all.end => index.get(),
            _ => end,
        };
        let mut parts = Vec::new();
        let mut place = all.start;
        for range in shown {
            let start = range.start.max(place);
            if start > place {
                parts.push(self.gap(index(place), index(start) - 1));
            }
            for place in start..range.end {
                parts.push(self.shown.entries(index(place)..index(place + 1)));
            }
            place = range.end.max(place);
        }
        if place < all.end {
            parts.push(self.gap(index(place), end - 1));
        }
        parts
    }

    /// The places around an entry.
    fn near(&self, index: EntryIdx, within: &Range<usize>) -> Range<usize> {
        let place = self.shown.outermost_before(index);
        let start = place.saturating_sub(BEFORE).clamp(within.start, within.end);
        start..(start + SEGMENT).min(within.end)
    }

    fn gap(&self, first: usize, last: usize) -> String {
        let count = match last - first {
            0 => "1 entry".to_owned(),
            more => human::number_of(more.saturating_add(1), "entry"),
        };
        let moment = self.moment.map(|moment| format!("moment={moment}&"));
        let link = format!("?{}at={first}#e{first}", moment.unwrap_or_default());
        let gap = html! {
            article.gap data-first=(first) data-last=(last) aria-label={ (count) ", not loaded" } {
                span { (count) }
                a href=(link) { "Show" }
            }
        };
        gap.into_string()
    }
}

#[cfg(test)]
mod tests {
    use foldline_domain::{DomainEvent, NormalizedEntry, NormalizedEntryType};
    use foldline_render::html::Page;

    use super::*;

    fn page(entries: usize) -> Page {
        let mut page = Page::default();
        for number in 0..entries {
            let entry =
                NormalizedEntry::new(NormalizedEntryType::AssistantMessage, number.to_string());
            page.apply(&DomainEvent::entry(entry));
        }
        page
    }

    fn feed(page: &Page, around: Option<usize>) -> String {
        Window::of(page.snapshot()).feed(around).concat()
    }

    fn segment(page: &Page, first: usize, last: usize, wanted: Wanted) -> String {
        Window::of(page.snapshot()).segment(first, last, wanted)
    }

    /// The entries and the gaps, in order.
    fn shape(html: &str) -> Vec<(usize, usize)> {
        let number = |text: &str| {
            let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap();
            text[..digits].parse::<usize>().unwrap()
        };
        let mut shape: Vec<(usize, usize)> = Vec::new();
        for article in html.split("<article").skip(1) {
            if let Some((_, rest)) = article.split_once("data-first=\"") {
                let last = rest.split_once("data-last=\"").unwrap().1;
                shape.push((number(rest), number(last)));
                continue;
            }
            let index = number(article.split_once("id=\"e").unwrap().1);
            shape.push((index, index));
        }
        shape
    }

    /// Asserts that each entry is present once, and returns the number of parts.
    fn covers(html: &str, first: usize, last: usize) -> usize {
        let shape = shape(html);
        assert_eq!(shape.first().unwrap().0, first);
        assert_eq!(shape.last().unwrap().1, last);
        for pair in shape.windows(2) {
            assert_eq!(pair[0].1 + 1, pair[1].0, "{shape:?}");
        }
        shape.len()
    }

    #[test]
    fn each_entry_is_there_or_in_a_gap() {
        assert_eq!(covers(&feed(&page(MOST), None), 0, MOST - 1), MOST);
        let long = page(1000);
        assert_eq!(covers(&feed(&long, None), 0, 999), FIRST + 1 + LAST);
        for at in [0, 30, 500, 790, 999, 5000] {
            covers(&feed(&long, Some(at)), 0, 999);
        }
        assert_eq!(covers(&segment(&long, 20, 799, Wanted::First), 20, 799), SEGMENT + 1);
        assert_eq!(covers(&segment(&long, 20, 799, Wanted::Last), 20, 799), SEGMENT + 1);
        assert_eq!(covers(&segment(&long, 20, 799, Wanted::Around(400)), 20, 799), SEGMENT + 2);
        assert_eq!(covers(&segment(&long, 20, 99, Wanted::First), 20, 99), 80);
        let recent = Window::at(long.snapshot(), Some(7)).recent().concat();
        assert_eq!(covers(&recent, 0, 999), RECENT + 1);
        assert!(recent.contains("href=\"?moment=7&amp;at=0#e0\""));
        assert_eq!(segment(&long, 2000, 3000, Wanted::First), "");
        assert_eq!(segment(&long, 30, 20, Wanted::Last), "");
    }
}
