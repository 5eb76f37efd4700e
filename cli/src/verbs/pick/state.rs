//! [`Picker`]: the state of the list, without a terminal and a database.

use std::collections::BTreeMap;

use foldline_database::query::SessionRow;
use jiff::tz::TimeZone;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::answer::{Kind, Value, folder, status::Status};

/// A session of the list.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) session: SessionRow,
    pub(super) project: String,
    pub(super) when: String,
    pub(super) cost: String,
    /// The text that the filter searches, in lower case.
    text: String,
}

impl Row {
    /// The rows of sessions, whose projects have names that distinguish them.
    pub(super) fn of(sessions: Vec<SessionRow>, zone: &TimeZone) -> Vec<Self> {
        let paths = sessions.iter().filter_map(|session| session.project.as_deref());
        let names = folder::Names::of(paths);
        let name = |path: &String| names.name(path).to_owned();
        let projects: Vec<_> =
            sessions.iter().map(|session| session.project.as_ref().map(name)).collect();
        let row = |(session, project): (SessionRow, Option<String>)| {
            let about = |is_about: bool, value: Value, kind: Kind| {
                let shown = value.shown(kind, zone);
                if is_about && !shown.is_empty() { format!("≈{shown}") } else { shown }
            };
            let is_of_file = session.time_basis.as_deref() == Some("file");
            let is_logged = session.cost_basis.as_deref() == Some("logged");
            let cost = session.cost_usd.map_or(Value::Null, Value::Real);
            let SessionRow { title, project: path, agent, session: id, .. } = &session;
            let texts = [title, path, agent, id].into_iter().flatten().map(String::as_str);
            Self {
                when: about(is_of_file, session.began.into(), Kind::Minute),
                cost: about(!is_logged, cost, Kind::Money),
                text: texts.collect::<Vec<_>>().join("\n").to_lowercase(),
                project: project.unwrap_or_default(),
                session,
            }
        };
        sessions.into_iter().zip(projects).map(row).collect()
    }

    /// The status at a moment, in milliseconds since 1970.
    pub(super) fn status(&self, now: i64) -> Status {
        let SessionRow { outcome, written, waiting, .. } = &self.session;
        Status::of(outcome.as_deref(), *written, *waiting > 0, now)
    }
}

/// The conversation of a session at a glance.
#[derive(Clone, Debug, Default)]
pub(super) struct Preview {
    pub(super) prompt: Option<String>,
    pub(super) answer: Option<String>,
}

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Shows the session, or prints its id.
    Choose,
    Resume,
    Diff,
    Export,
    CopyId,
    Quit,
}

/// The list, its filter and its selection.
#[derive(Debug, Default)]
pub(super) struct Picker {
    rows: Vec<Row>,
    /// The rows that match the filter.
    matching: Vec<usize>,
    pub(super) filter: String,
    /// The selected one of the matching rows.
    pub(super) selected: usize,
    /// The first visible one of the matching rows.
    pub(super) top: usize,
    /// The number of visible rows.
    height: usize,
    has_preview: bool,
    previews: BTreeMap<i64, Preview>,
    /// The session whose preview was asked for last.
    asked: Option<i64>,
    /// The last line, instead of the keys.
    pub(super) message: Option<String>,
    pub(super) is_help: bool,
    /// Whether all sessions were read.
    pub(super) is_complete: bool,
    /// Whether the id of the session is printed, and nothing else is on standard output.
    pub(super) prints: bool,
    /// In milliseconds since 1970.
    pub(super) now: i64,
}

impl Picker {
    /// An empty list, whose choice is printed or shown.
    pub(super) fn new(prints: bool) -> Self {
        Self { prints, ..Self::default() }
    }

    /// Replaces the rows. The same session stays selected, where it is on the screen.
    pub(super) fn set_rows(&mut self, rows: Vec<Row>) {
        let selected = self.selected().map(|row| row.session.number);
        let line = self.selected.saturating_sub(self.top);
        let is_begin = self.selected == 0;
        self.rows = rows;
        // Sessions that grew have another answer.
        self.previews.clear();
        self.asked = None;
        self.search();
        let has = |at: &usize| Some(self.rows[*at].session.number) == selected;
        let place = self.matching.iter().position(has).filter(|_| !is_begin);
        self.selected = place.unwrap_or(self.selected).min(self.last());
        self.top = self.selected.saturating_sub(line);
        self.scroll();
    }

    /// The selected row.
    pub(super) fn selected(&self) -> Option<&Row> {
        self.rows.get(*self.matching.get(self.selected)?)
    }

    /// The visible rows.
    pub(super) fn visible(&self) -> impl Iterator<Item = &Row> {
        let visible = self.matching.iter().skip(self.top).take(self.height);
        visible.filter_map(|at| self.rows.get(*at))
    }

    /// The numbers of matching rows and of all rows.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.matching.len(), self.rows.len())
    }

    /// The name of the selected session for a command: its id, or its number if it has none or shares it.
    pub(super) fn name(&self) -> Option<String> {
        let session = &self.selected()?.session;
        let shared = |id: &&String| {
            self.rows.iter().filter(|row| row.session.session.as_ref() == Some(id)).count() > 1
        };
        let id = session.session.as_ref().filter(|id| !id.is_empty() && !shared(id));
        Some(id.cloned().unwrap_or_else(|| session.number.to_string()))
    }

    /// Sets the number of visible rows, and whether there is space for a preview.
    pub(super) fn set_size(&mut self, height: usize, has_preview: bool) {
        self.height = height;
        self.has_preview = has_preview;
        self.scroll();
    }

    /// The preview of the selected session, if it was read.
    pub(super) fn preview(&self) -> Option<&Preview> {
        self.previews.get(&self.selected()?.session.number)
    }

    /// Keeps a preview.
    pub(super) fn set_preview(&mut self, number: i64, preview: Preview) {
        self.previews.insert(number, preview);
    }

    /// The session whose preview is to be read, once.
    pub(super) fn ask_preview(&mut self) -> Option<i64> {
        let number = self.selected()?.session.number;
        let is_new =
            self.has_preview && self.asked != Some(number) && !self.previews.contains_key(&number);
        is_new.then(|| *self.asked.insert(number))
    }

    /// Takes a key.
    pub(super) fn press(&mut self, key: KeyEvent) -> Option<Action> {
        self.message = None;
        if std::mem::take(&mut self.is_help) && key.code == KeyCode::Esc {
            return None;
        }
        let page = self.height.saturating_sub(1).max(1);
        let has_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char(letter) if has_control => return self.control(letter),
            KeyCode::Char('?') if self.filter.is_empty() => self.is_help = true,
            KeyCode::F(1) => self.is_help = true,
            KeyCode::Char(letter) if !key.modifiers.contains(KeyModifiers::ALT) => {
                self.filter.push(letter);
                self.refilter();
            }
            KeyCode::Backspace => {
                self.filter.pop();
                self.refilter();
            }
            KeyCode::Esc if self.filter.is_empty() => return Some(Action::Quit),
            KeyCode::Esc => self.clear(),
            KeyCode::Enter if self.selected().is_some() => return Some(Action::Choose),
            KeyCode::Up => self.select(self.selected.saturating_sub(1)),
            KeyCode::Down => self.select(self.selected + 1),
            KeyCode::PageUp => self.select(self.selected.saturating_sub(page)),
            KeyCode::PageDown => self.select(self.selected + page),
            KeyCode::Home => self.select(0),
            KeyCode::End => self.select(usize::MAX),
            _ => {}
        }
        None
    }

    fn control(&mut self, letter: char) -> Option<Action> {
        let action = match letter {
            'c' => return Some(Action::Quit),
            'p' => return self.press(KeyCode::Up.into()),
            'n' => return self.press(KeyCode::Down.into()),
            // Backspace of some terminals.
            'h' => return self.press(KeyCode::Backspace.into()),
            'u' => {
                self.clear();
                return None;
            }
            'r' => Action::Resume,
            'd' => Action::Diff,
            'e' => Action::Export,
            'y' => Action::CopyId,
            _ => return None,
        };
        if self.prints && matches!(action, Action::Resume | Action::Diff) {
            self.message = Some("not with --print, which prints the id of a session".to_owned());
            return None;
        }
        self.selected().map(|_| action)
    }

    fn clear(&mut self) {
        self.filter.clear();
        self.refilter();
    }

    /// The first match is selected after each change of the filter.
    fn refilter(&mut self) {
        self.search();
        self.select(0);
    }

    fn search(&mut self) {
        let filter = self.filter.to_lowercase();
        let words: Vec<&str> = filter.split_whitespace().collect();
        let matches = |row: &Row| words.iter().all(|word| row.text.contains(word));
        let all = self.rows.iter().enumerate();
        self.matching = all.filter(|(_, row)| matches(row)).map(|(at, _)| at).collect();
    }

    fn last(&self) -> usize {
        self.matching.len().saturating_sub(1)
    }

    fn select(&mut self, at: usize) {
        self.selected = at.min(self.last());
        self.scroll();
    }

    /// Makes the selected row visible, and leaves no space below the last one.
    fn scroll(&mut self) {
        let first = (self.selected + 1).saturating_sub(self.height);
        let most = self.matching.len().saturating_sub(self.height);
        self.top = self.top.clamp(first, self.selected.max(first)).min(most);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A session with this number.
    pub(in super::super) fn session(number: i64, title: &str, project: &str) -> SessionRow {
        let text = |text: &str| Some(text.to_owned());
        let row = serde_json::json!({
            "number": number, "session": format!("id-{number}"), "title": title, "project": project,
            "agent": "codex", "began": 1_770_000_000_000_i64, "cost_usd": 1.5, "cost_basis": "estimated",
            "entries": 3, "calls": 2, "failures": 0, "waiting": 0, "warnings": 0, "agents": 0, "source": "log",
        });
        SessionRow { cwd: text(project), ..serde_json::from_value(row).unwrap() }
    }

    fn picker(count: i64) -> Picker {
        let sessions =
            (0..count).map(|number| session(number, &format!("Title {number}"), "/a/Shop"));
        let mut picker = Picker::default();
        picker.set_size(10, true);
        picker.set_rows(Row::of(sessions.collect(), &TimeZone::UTC));
        picker
    }

    fn number(picker: &Picker) -> Option<i64> {
        picker.selected().map(|row| row.session.number)
    }

    fn type_in(picker: &mut Picker, text: &str) {
        for letter in text.chars() {
            assert_eq!(picker.press(KeyCode::Char(letter).into()), None);
        }
    }

    fn control(letter: char) -> KeyEvent {
        KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL)
    }

    #[test]
    fn words_in_any_case_filter_the_rows() {
        let mut picker = picker(200);
        type_in(&mut picker, "SHOP title 19");
        assert_eq!(picker.counts(), (12, 200));
        assert_eq!(number(&picker), Some(19));
        picker.press(KeyCode::Backspace.into());
        assert_eq!(picker.counts().0, 119);
        type_in(&mut picker, "nothing?");
        assert_eq!((picker.counts().0, number(&picker)), (0, None));
        assert_eq!(picker.press(KeyCode::Enter.into()), None);
        assert_eq!(picker.press(control('r')), None);
        assert_eq!(picker.press(KeyCode::Esc.into()), None);
        assert_eq!(picker.counts().0, 200);
        assert_eq!(picker.press(KeyCode::Esc.into()), Some(Action::Quit));
    }

    #[test]
    fn the_selection_is_visible_and_stays_in_the_list() {
        let mut picker = picker(100);
        let mut pressed = |code: KeyCode| {
            picker.press(code.into());
            let visible = picker.visible().map(|row| row.session.number).collect::<Vec<_>>();
            assert!(visible.contains(&number(&picker).unwrap()) && visible.len() == 10, "{code}");
            number(&picker).unwrap()
        };
        assert_eq!(pressed(KeyCode::Up), 0);
        assert_eq!(pressed(KeyCode::Down), 1);
        assert_eq!(pressed(KeyCode::PageDown), 10);
        assert_eq!(pressed(KeyCode::End), 99);
        assert_eq!(pressed(KeyCode::Down), 99);
        assert_eq!(pressed(KeyCode::PageUp), 90);
        assert_eq!(pressed(KeyCode::Home), 0);
        picker.press(control('n'));
        assert_eq!(number(&picker), Some(1));
        picker.press(control('p'));
        assert_eq!(number(&picker), Some(0));
        picker.set_size(0, true);
        assert_eq!(picker.visible().count(), 0);
    }

    #[test]
    fn new_rows_leave_the_selected_session_where_it_is() {
        let mut picker = picker(100);
        picker.press(KeyCode::End.into());
        let line = picker.selected - picker.top;
        let later = (-5..100).map(|number| session(number, "Later", "/a/Shop"));
        picker.set_rows(Row::of(later.collect(), &TimeZone::UTC));
        assert_eq!((number(&picker), picker.selected - picker.top), (Some(99), line));
        picker.set_rows(Row::of(vec![session(7, "Only", "/a")], &TimeZone::UTC));
        assert_eq!(number(&picker), Some(7));
        picker.set_rows(Vec::new());
        assert_eq!(number(&picker), None);
    }

    #[test]
    fn a_preview_is_asked_for_once() {
        let mut picker = picker(3);
        assert_eq!(picker.ask_preview(), Some(0));
        assert_eq!(picker.ask_preview(), None);
        picker.set_preview(0, Preview::default());
        picker.press(KeyCode::Down.into());
        assert_eq!(picker.ask_preview(), Some(1));
        picker.press(KeyCode::Up.into());
        assert_eq!(picker.ask_preview(), None);
    }

    #[test]
    fn an_id_that_two_sessions_have_names_neither() {
        let mut picker = picker(3);
        assert_eq!(picker.name().as_deref(), Some("id-0"));
        let other = SessionRow { session: Some("id-0".to_owned()), ..session(1, "", "") };
        picker.set_rows(Row::of(vec![session(0, "", ""), other], &TimeZone::UTC));
        assert_eq!(picker.name().as_deref(), Some("0"));
    }
}
