//! Law 6 rejects executors that lose data, and accepts the others.

use foldline::{
    conversation::{NormalizedEntry, NormalizedEntryType, Text, Timestamp, tool_calls::CallResult},
    executors::{Context, Evidence, Executor, Extra, Format, Header, Parsed, wire::Object},
    testkit::{Law, Violation, law},
};
use serde::{Deserialize, Serialize};

/// An agent without tools.
#[derive(Clone, Copy)]
struct Toy {
    tag: &'static str,
    defect: Defect,
}

#[derive(Clone, Copy, PartialEq)]
enum Defect {
    None,
    DropsEveryRecord,
    TruncatesTexts,
    DropsAField,
    IgnoresEveryRecord,
    Panics,
}

struct Said {
    text: Text,
    mood: Option<Text>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct NoResult;

impl CallResult for NoResult {
    fn complete(self, _call: &mut NormalizedEntry) {}

    fn timestamp(&self) -> Option<Timestamp> {
        None
    }

    fn content(&self) -> Text {
        Text::default()
    }
}

impl Executor for Toy {
    const FORMAT: Format = Format::new("toy", "Toy", "toy");
    type Line<'a> = Said;
    type Result = NoResult;
    type Memory = ();

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        if object.has(self.tag) { Evidence::Possible } else { Evidence::None }
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Said> {
        let tag = object.get_str(self.tag).unwrap_or_default();
        header.name = tag;
        if self.defect == Defect::IgnoresEveryRecord {
            return Parsed::Ignored;
        }
        if header.name != "say" {
            return Parsed::Unknown;
        }
        assert!(self.defect != Defect::Panics || !object.has("mood"), "a toy that panics");
        object.ignore(&[self.tag]);
        Parsed::Line(Said {
            text: object.text("text").unwrap_or_default(),
            mood: object.text("mood"),
        })
    }

    fn line(&self, said: Said, extra: Extra, _: &mut (), cx: &mut Context<'_, NoResult>) {
        let Said { mut text, mood } = said;
        match self.defect {
            Defect::DropsEveryRecord => return,
            Defect::TruncatesTexts => {
                text = text.decode().chars().take(100).collect::<String>().into();
            }
            _ => {}
        }
        let mut entry = cx.draft(NormalizedEntryType::AssistantMessage, text, extra);
        if let Some(mood) = mood.filter(|_| self.defect != Defect::DropsAField) {
            entry.metadata_mut().extra.insert("mood", mood.into());
        }
        cx.push(entry);
    }
}

const LOG: &str = r#"{"TAG":"say","text":"hello"}

not json
{"TAG":"sing","song":"la"}
{"TAG":"say","text":"bye","mood":"sad","new":{"in":["this release"]}}
"#;

fn check(tag: &'static str, defect: Defect) -> Result<law::Report, Violation> {
    law::every(Toy { tag, defect }, LOG.replace("TAG", tag).as_bytes())
}

fn violation(defect: Defect) -> String {
    let violation = check("type", defect).unwrap_err();
    assert_eq!(violation.law, Law::Totality);
    format!("{}: {}", violation.place, violation.message)
}

const LOST: &str = "is in no event and not in the state, or not all of it";

#[test]
fn an_executor_that_keeps_everything_passes() {
    let report = check("type", Defect::None).unwrap();
    let checked: Vec<_> = report.checked().map(Law::number).collect();
    assert_eq!(checked, [1, 2, 3, 6, 7, 8, 9], "{report}");
    assert_eq!((report.accounts.records, report.accounts.planted), (4, 8), "{report}");
    let lines = report.to_string();
    for line in [
        "law 4 (balance): vacuous, no tool call and no entry that grows",
        "law 5 (irrelevance of the order of results): vacuous, no record that is a result and nothing else",
        "law 10 (ledger): skipped, it is about ledgers: see `testkit::ledger`",
        "4 records, 8 strings with a marker",
    ] {
        assert!(lines.contains(line), "{lines}");
    }
}

#[test]
fn a_format_need_not_call_its_tag_type() {
    let report = check("kind", Defect::None).unwrap();
    assert!(report.is_checked(Law::Totality), "{report}");
}

#[test]
fn an_executor_that_drops_every_known_record_fails() {
    assert_eq!(
        violation(Defect::DropsEveryRecord),
        format!("at line 1: what stands in `text` of `say` {LOST}")
    );
}

#[test]
fn an_executor_that_truncates_texts_fails() {
    assert_eq!(
        violation(Defect::TruncatesTexts),
        format!("at line 1: what stands in `text` of `say` {LOST}")
    );
}

#[test]
fn an_executor_that_drops_a_field_fails_unless_it_says_so() {
    assert_eq!(
        violation(Defect::DropsAField),
        format!("at line 5: what stands in `mood` of `say` {LOST}")
    );
    let toy = Toy { tag: "type", defect: Defect::DropsAField };
    let log = LOG.replace("TAG", "type");
    law::Every::of(toy).dropping(&[("say", "mood")]).check(log.as_bytes()).unwrap();
}

#[test]
fn records_that_are_ignored_are_named() {
    let report = check("type", Defect::IgnoresEveryRecord).unwrap();
    assert!(!report.is_checked(Law::Totality), "{report}");
    assert!(report.to_string().ends_with("2 \"say\" ignored, 1 \"sing\" ignored"), "{report}");
}

#[test]
fn a_panic_is_a_violation_that_names_the_line() {
    assert_eq!(violation(Defect::Panics), "at line 5: it panics: a toy that panics");
}
