//! Draws the list. A pure function of its state: the sixteen colours of the terminal, and attributes.

use foldline_database::query::SessionRow;
use foldline_render::{human, terminal::neutralise_line};
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Style, Stylize},
    text::{Line, Span},
    widgets::{Block, Borders, Clear, Paragraph},
};
use unicode_width::UnicodeWidthStr;

use super::state::{Picker, Preview, Row};
use crate::{answer::status::Status, table::clip, wrap::wrap};

/// The least width of a terminal with a preview.
const WIDE: u16 = 100;

/// The least width of a title, for which other columns are omitted.
const TITLE: usize = 18;

/// The longest text that a preview shows, in characters.
const LONGEST: usize = 4000;

const HELP: [(&str, &str); 11] = [
    ("letters", "filter by words of the title, project, agent and id"),
    ("Backspace, ^U", "delete the last letter, or all"),
    ("↑ ↓, ^P ^N", "select the previous or next session"),
    ("PgUp PgDn Home End", "select further away"),
    ("Enter", "show the session, or with --print print its id"),
    ("^R", "resume it with its agent, and leave the list"),
    ("^D", "show its changes of files as a diff"),
    ("^E", "export it to an HTML file in this folder"),
    ("^Y", "copy its id to the clipboard"),
    ("F1, or ? first", "this help"),
    ("Esc, ^C", "clear the filter, then quit"),
];

/// The columns next to the title, in their order on the screen, with their widths.
const COLUMNS: [(&str, usize); 6] =
    [("state", 7), ("title", 0), ("project", 14), ("agent", 11), ("began", 17), ("cost", 9)];

/// The columns by their importance.
const IMPORTANT: [usize; 5] = [0, 4, 2, 5, 3];

/// Draws a picker, whose visible rows are those of the area.
pub(super) fn draw(frame: &mut Frame<'_>, picker: &mut Picker) {
    let [top, middle, bottom] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)])
            .areas(frame.area());
    let (list, preview) = match frame.area().width {
        WIDE.. => {
            let [list, preview] =
                Layout::horizontal([Constraint::Percentage(62), Constraint::Min(0)]).areas(middle);
            (list, Some(preview))
        }
        _ => (middle, None),
    };
    picker.set_size(usize::from(list.height.saturating_sub(1)), preview.is_some());
    filter(frame, top, picker);
    frame.render_widget(Paragraph::new(rows(picker, usize::from(list.width))), list);
    if let Some(area) = preview {
        let block = Block::new().borders(Borders::LEFT).border_style(Style::new().dim());
        let inside = block.inner(area);
        frame.render_widget(block, area);
        if let Some(row) = picker.selected() {
            let (width, height) = (usize::from(inside.width), usize::from(inside.height));
            let lines = preview_lines(row, picker.preview(), width.saturating_sub(1), height);
            frame.render_widget(Paragraph::new(lines), inside);
        }
    }
    frame.render_widget(last_line(picker, usize::from(bottom.width)), bottom);
    if picker.is_help {
        help(frame, middle);
    }
}

/// The filter with the cursor, and the numbers of sessions.
fn filter(frame: &mut Frame<'_>, area: Rect, picker: &Picker) {
    let (matching, all) = picker.counts();
    let more = if picker.is_complete { "" } else { "…" };
    let counts = format!(" {matching}/{all}{more}");
    let width = usize::from(area.width).saturating_sub(counts.width());
    let typed = neutralise_line(&picker.filter);
    // The end of what was typed is visible.
    let mut typed = &*typed;
    while typed.width() + 3 > width && !typed.is_empty() {
        typed = typed.get(typed.chars().next().map_or(1, char::len_utf8)..).unwrap_or_default();
    }
    let cursor = 2 + typed.width();
    let hint = if typed.is_empty() { "type to filter" } else { "" };
    let space = " ".repeat(width.saturating_sub(cursor + hint.width()));
    let line = vec![
        Span::from("❯ ").bold(),
        Span::from(typed.to_owned()),
        Span::from(hint).dim(),
        Span::from(space),
        Span::from(counts).dim(),
    ];
    frame.render_widget(Line::from(line), area);
    let cursor = u16::try_from(cursor).unwrap_or(u16::MAX);
    frame.set_cursor_position((area.x.saturating_add(cursor).min(area.right()), area.y));
}

/// The headings and the visible rows.
fn rows(picker: &Picker, width: usize) -> Vec<Line<'static>> {
    let mut widths = COLUMNS.map(|_| None);
    let mut rest = width;
    for column in IMPORTANT {
        let needed = COLUMNS[column].1;
        if rest >= needed + 2 + TITLE {
            widths[column] = Some(needed);
            rest -= needed + 2;
        }
    }
    widths[1] = Some(rest);
    let headings = cells(COLUMNS.map(|(name, _)| name), &widths);
    let mut lines = vec![Line::from(headings).dim()];
    if picker.counts().0 == 0 {
        lines.push(Line::from(if picker.is_complete {
            "no session matches"
        } else {
            "reading…"
        }));
    }
    let selected = picker.selected - picker.top.min(picker.selected);
    lines.extend(picker.visible().enumerate().map(|(at, row)| {
        let SessionRow { title, agent, number, .. } = &row.session;
        let status = row.status(picker.now);
        let state = if status == Status::Done { "" } else { status.as_str() };
        let number = format!("#{number}");
        let title = title.as_deref().unwrap_or(&number);
        let agent = agent.as_deref().unwrap_or_default();
        let line = cells([state, title, &row.project, agent, &row.when, &row.cost], &widths);
        if at == selected {
            return Line::from(line).reversed();
        }
        let split = widths[0].unwrap_or_default().min(line.len());
        let (state, others) = line.split_at(split);
        let state = Span::from(state.to_owned());
        let state = match status {
            Status::Running => state.green(),
            Status::Waiting => state.magenta().bold(),
            Status::Failed => state.red(),
            Status::Done => state,
        };
        Line::from(vec![state, Span::from(others.to_owned())])
    }));
    lines
}

/// The cells of a row, each in its width; a cost is aligned on the right.
fn cells(cells: [&str; 6], widths: &[Option<usize>; 6]) -> String {
    let mut line = String::new();
    for (column, (cell, width)) in cells.into_iter().zip(widths).enumerate() {
        let Some(width) = *width else { continue };
        if !line.is_empty() {
            line.push_str("  ");
        }
        let cell = neutralise_line(cell);
        let cell = clip(&cell, width);
        let space = " ".repeat(width.saturating_sub(cell.width()));
        let (before, after) =
            if COLUMNS[column].0 == "cost" { (&*space, "") } else { ("", &*space) };
        line.extend([before, &cell, after]);
    }
    line
}

/// The facts, the first prompt and the last answer, which share the lines.
fn preview_lines(
    row: &Row,
    preview: Option<&Preview>,
    width: usize,
    height: usize,
) -> Vec<Line<'static>> {
    let session = &row.session;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let count = |count: i64, of: &str| human::number_of(u64::try_from(count).unwrap_or(0), of);
    let tokens = session.tokens.and_then(|tokens| u64::try_from(tokens).ok());
    let tokens =
        tokens.map_or_else(String::new, |tokens| format!("{} tokens", human::count(tokens)));
    let facts = [
        format!("{} {}", text(&session.agent), text(&session.model)),
        text(&session.cwd),
        row.when.clone(),
        [
            count(session.entries, "entry"),
            count(session.calls, "call"),
            count(session.failures, "failure"),
        ]
        .join(" · "),
        format!("{} {tokens}", row.cost),
        text(&session.session),
        session.reason.clone().map_or_else(String::new, |reason| format!("ended: {reason}")),
    ];
    let line = |text: &str| Line::from(format!(" {}", clip(&neutralise_line(text), width)));
    let title = wrapped(&text(&session.title), width).into_iter().take(3);
    let mut lines: Vec<_> = title.map(|title| line(&title).bold()).collect();
    let facts = facts.iter().filter(|fact| !fact.trim().is_empty());
    lines.extend(facts.map(|fact| line(fact.trim()).dim()));
    let Some(preview) = preview else { return lines };
    let rest = height.saturating_sub(lines.len());
    let texts =
        [("first prompt", &preview.prompt, rest / 2), ("last answer", &preview.answer, rest)];
    for (heading, text, most) in texts {
        let Some(text) = text else { continue };
        lines.push(Line::default());
        lines.push(line(heading).cyan());
        let text = wrapped(text, width).into_iter().take(most.saturating_sub(2));
        lines.extend(text.map(|text| line(&text)));
    }
    lines
}

/// The beginning of a text, in lines.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(at, _)| at);
    let text = text.get(..end).unwrap_or(text);
    let lines = text.lines().map(|line| wrap(&neutralise_line(line), width, 0));
    lines.flat_map(|lines| lines.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// The keys, or a message.
fn last_line(picker: &Picker, width: usize) -> Line<'static> {
    if let Some(message) = &picker.message {
        return Line::from(clip(&neutralise_line(message), width).into_owned()).bold();
    }
    let keys: &[_] = match picker.prints {
        true => &["Enter choose", "F1 keys", "Esc quit", "^E export", "^Y copy id"],
        false => &[
            "Enter show",
            "F1 keys",
            "Esc quit",
            "^R resume",
            "^D diff",
            "^E export",
            "^Y copy id",
        ],
    };
    // Those that fit.
    let fits = |count: &usize| keys[..*count].join(" · ").width() <= width;
    let count = (1..=keys.len()).rev().find(fits).unwrap_or(1);
    Line::from(clip(&keys[..count].join(" · "), width).into_owned()).dim()
}

/// The keys, over the list.
fn help(frame: &mut Frame<'_>, area: Rect) {
    let lines = HELP.map(|(key, text)| format!(" {key:<18}  {text} "));
    let widest = lines.iter().map(|line| line.width()).max().unwrap_or(0) + 2;
    let width = u16::try_from(widest).unwrap_or(u16::MAX).min(area.width);
    let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX).min(area.height);
    let middle = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    frame.render_widget(Clear, middle);
    let inside = usize::from(width.saturating_sub(2));
    let lines: Vec<Line<'_>> =
        lines.iter().map(|line| Line::from(clip(line, inside)).style(Style::new())).collect();
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(" keys ")), middle);
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use ratatui::{Terminal, backend::TestBackend, crossterm::event::KeyCode};

    use super::{super::state::tests::session, *};

    fn screen(picker: &mut Picker, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, picker)).unwrap();
        let buffer = terminal.backend().buffer();
        let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..height).map(|y| line(y).trim_end().to_owned() + "\n").collect()
    }

    fn picker() -> Picker {
        let sessions = vec![
            session(1, "Mend the \x1b[2Jcart\nplease", "/home/me/shop"),
            session(2, "これは確認です。これは確認です。これは確認です。", "/home/me/shop"),
        ];
        let mut picker = Picker::new(false);
        picker.is_complete = true;
        picker.set_rows(Row::of(sessions, &TimeZone::UTC));
        picker
    }

    #[test]
    fn text_of_logs_is_harmless_and_fits() {
        let shown = screen(&mut picker(), 80, 8);
        let lines: Vec<_> = shown.lines().collect();
        assert!(lines[0].starts_with("❯ type to filter") && lines[0].ends_with(" 2/2"), "{shown}");
        assert!(lines[2].contains("Mend the ␛[2Jcart⏎pl"), "{shown}");
        assert!(lines[2].contains("shop") && lines[2].ends_with("≈$1.50"), "{shown}");
        assert!(lines[3].contains('…') && lines[3].ends_with("≈$1.50"), "{shown}");
        assert!(lines[7].contains("Enter show"), "{shown}");
    }

    #[test]
    fn a_wide_screen_has_a_preview() {
        let mut picker = picker();
        let answer = Some("All is\nwell".to_owned());
        picker.set_preview(1, Preview { prompt: Some("Mend it".to_owned()), answer });
        assert!(!screen(&mut picker, 99, 20).contains("first prompt"));
        let shown = screen(&mut picker, 120, 20);
        for part in ["│ first prompt", "│ Mend it", "│ last answer", "│ All is", "│ well"]
        {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }

    #[test]
    fn any_size_can_be_drawn() {
        let mut picker = picker();
        for is_help in [false, true] {
            for (width, height) in [(1, 1), (2, 3), (10, 2), (100, 1), (130, 5), (300, 90)] {
                picker.is_help = is_help;
                picker.filter = "これ long filter".to_owned();
                screen(&mut picker, width, height);
            }
        }
    }

    #[test]
    fn the_keys_are_listed() {
        let mut picker = picker();
        picker.press(KeyCode::Char('?').into());
        let shown = screen(&mut picker, 80, 24);
        assert!(HELP.iter().all(|(key, _)| shown.contains(key)), "{shown}");
        picker.press(KeyCode::Esc.into());
        assert!(!screen(&mut picker, 80, 24).contains("keys ─"));
    }
}
