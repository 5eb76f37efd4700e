//! A new tool call: its header, and its plan or questions.

use std::borrow::Cow;

use foldline_domain::{ActionType, Lines, NormalizedEntry, ToolKind, ToolUse};

use super::{
    page::Page,
    row::{Ink, Row},
    safe_text::SafeText,
    wrap::{Wrapped, clip, wrap, wrap_line},
};
use crate::{
    terminal::{is_printable, neutralise_line},
    text::{
        call_fields,
        call_text::{self, edit},
    },
};

/// The maximum number of rows of a command or another title.
const MOST_TITLE: usize = 8;
const MOST_PLAN: usize = 80;
const MOST_PROMPT: usize = 6;
/// The parts of a header are indented like the body of a result.
const INDENT: usize = 4;
/// Columns of a name, and of a whole label.
const NAME: usize = 48;
const LABEL: usize = 160;
const NAME_END: &str = "  ";

/// The name and title of a call.
pub(super) struct Heading<'e> {
    glyph: &'static str,
    name: Cow<'e, str>,
    title: Cow<'e, str>,
}

impl<'e> Heading<'e> {
    pub(super) fn of(page: &Page, entry: &'e NormalizedEntry, tool: &'e ToolUse) -> Self {
        Self {
            glyph: glyph(&tool.action_type),
            name: edit(call_text::name(tool), |name| clip(name, NAME)),
            title: call_text::title(entry, tool, page.most(LABEL * MOST_TITLE)),
        }
    }

    /// Prints the header of the call.
    pub(super) fn print(&self, page: &mut Page) {
        let room = page.width() - INDENT;
        let columns = self.name.len() + NAME_END.len() + self.title.len();
        let is_named = !self.name.is_empty() && self.name.len() <= room / 2;
        if columns <= room && is_named && is_printable(&self.name) && is_printable(&self.title) {
            let row = self.row().then(Ink::Strong, &self.name);
            return page.row(row.then_mark(Ink::Plain, NAME_END).then(Ink::Plain, &self.title));
        }
        self.print_wrapped(page, room);
    }

    /// The beginning of the first row.
    fn row(&self) -> Row {
        Row::mark(Ink::Tool, self.glyph).then_mark(Ink::Plain, " ")
    }

    fn print_wrapped(&self, page: &mut Page, room: usize) {
        let name = clip(&self.name, room / 2);
        let text = [&*name, NAME_END, &*self.title].concat();
        let text = SafeText::of_lines(Lines::plain(&text));
        let mut rows = text.lines().flat_map(|line| wrap_line(line, room));
        let Some(Wrapped { text: first, .. }) = rows.next() else { return };
        // The name is short enough to fit on the first row completely.
        let is_named = first.as_str().starts_with(&*name);
        let (name, rest) = first.split_at(if is_named { name.len() } else { 0 });
        page.row(self.row().then_shown(Ink::Strong, name).then_shown(Ink::Plain, rest));
        let rows: Vec<_> = rows.collect();
        if !rows.is_empty() {
            page.hang_beginning(Row::indent(INDENT), Ink::Plain, &rows, MOST_TITLE);
        }
    }

    /// A short form of the call, for later references.
    pub(super) fn label(&self) -> String {
        let mut label = [&*self.name, NAME_END, &*self.title].concat();
        label.truncate(label.trim_end().len());
        match neutralise_line(&label) {
            Cow::Borrowed(_) if label.len() <= LABEL => label,
            shown => clip(&shown, LABEL).into_owned(),
        }
    }

    /// Whether this is its label.
    pub(super) fn has_label(&self, label: &str) -> bool {
        let title = label.strip_prefix(&*self.name).and_then(|rest| rest.strip_prefix(NAME_END));
        // A label is truncated and neutralised; most need neither.
        title == Some(&*self.title) || label == self.label()
    }
}

/// Prints the content of a call beyond its title. Returns whether there was any.
pub(super) fn brief(page: &mut Page, action: &ActionType) -> bool {
    let room = page.width() - INDENT;
    match action {
        ActionType::PlanPresentation { plan, .. } if !plan.is_empty() => {
            let text = SafeText::of_text(plan);
            let rows = wrap(&text, room);
            page.hang_beginning(Row::indent(INDENT), Ink::Plain, &rows, MOST_PLAN);
        }
        ActionType::Question { questions, .. } if !questions.is_empty() => {
            for question in questions {
                let bullet = Row::indent(2).then(Ink::Caution, "? ");
                let text = SafeText::of_text(question);
                page.hang(bullet, Ink::Plain, wrap(&text, room));
            }
        }
        ActionType::TaskCreate { description, prompt: Some(prompt), .. }
            if prompt != description =>
        {
            let text = SafeText::of_text(prompt);
            let rows = wrap(&text, room);
            page.hang_beginning(Row::indent(INDENT), Ink::Quiet, &rows, MOST_PROMPT);
        }
        _ => return false,
    }
    true
}

/// Prints the fields of a call that its action does not show, if everything is shown, except for the first `printed` ones.
/// Returns their number.
pub(super) fn fields(page: &mut Page, entry: &NormalizedEntry, printed: usize) -> usize {
    let (mut count, is_full) = (0, page.is_full());
    for (name, json) in call_fields::fields(entry).take_while(|_| is_full) {
        count += 1;
        if count > printed {
            let first = Row::indent(INDENT).then(Ink::Quiet, format!("{name}: "));
            let value = call_fields::value(json);
            let text = SafeText::of_lines(Lines::plain(value.trim()));
            let room = page.width().saturating_sub(first.width()).max(8);
            let rows = wrap(&text, room);
            page.hang(first, Ink::Plain, if rows.is_empty() { vec![Wrapped::EMPTY] } else { rows });
        }
    }
    count
}

fn glyph(action: &ActionType) -> &'static str {
    match (action, action.kind()) {
        (ActionType::TodoManagement { .. }, _) => "☰",
        (ActionType::PlanPresentation { .. }, _) => "✎",
        (ActionType::Question { .. }, _) => "?",
        (ActionType::TaskCreate { .. }, _) => "◆",
        (_, ToolKind::Read) => "≡",
        (_, ToolKind::Edit) => "±",
        (_, ToolKind::Delete) => "×",
        (_, ToolKind::Move) => "→",
        (_, ToolKind::Search) => "◎",
        (_, ToolKind::Execute) => "$",
        (_, ToolKind::Fetch) => "↓",
        (_, ToolKind::Think | ToolKind::Other) => "◇",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::transcript::TranscriptStyle;

    fn text() -> impl Strategy<Value = String> {
        prop_oneof!["[a-c]{0,2}", "[a-z é中\u{1b}\u{202e}\u{200d}\n\t]{0,8}", "[a-z é]{0,200}"]
    }

    proptest! {
        /// The shorter way to print most headers leads to the same.
        #[test]
        fn a_short_header_is_printed_as_others_are(
            name in "|[A-Za-z]([a-z ]{0,30}[a-z])?|(é中){1,30}", title in text(), width in 30usize..100, color in any::<bool>(),
        ) {
            let style = TranscriptStyle::new(width).with_color(color);
            let heading = Heading { glyph: "$", name: name.into(), title: title.into() };
            let (mut one, mut other) = (Page::new(style), Page::new(style));
            heading.print(&mut one);
            heading.print_wrapped(&mut other, width - INDENT);
            let [one, other] = [one, other].map(|page| page.into_text().into_iter().collect::<String>());
            prop_assert_eq!(one, other);
        }

        /// The shorter way to compare labels, which makes none, leads to the same.
        #[test]
        fn a_heading_knows_its_label(texts in prop::collection::vec((text(), text()), 2..8)) {
            let heading = |(name, title): &'_ (String, String)| Heading {
                glyph: "",
                name: edit(Cow::Owned(name.clone()), |name| clip(name, NAME)),
                title: Cow::Owned(title.clone()),
            };
            let headings: Vec<_> = texts.iter().map(heading).collect();
            for (one, other) in headings.iter().flat_map(|one| headings.iter().map(move |it| (one, it))) {
                let label = other.label();
                prop_assert_eq!(one.has_label(&label), one.label() == label, "{:?}", label);
            }
        }
    }
}
