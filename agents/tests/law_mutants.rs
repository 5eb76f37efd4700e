//! A test of the laws: executors, reducers and consumers that are broken on purpose, and the law that catches each.
//!
//! Most are the executor of Droid with a change of its events; `Broken::None` is the correct one, which passes.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use foldline::{
    position::{Located, SessionKey},
    transduce::{Batch, Emitter, Reducer, emit_fn},
};
use foldline_agents::{
    Evidence, ExecutorReducer, Format, RecordReducer, State,
    droid::Droid,
    wire::{Object, Record},
};
use foldline_domain::{
    ActionType, CorrId, DomainEvent, NormalizedEntry, NormalizedEntryType, Session, Text,
    TokenUsage, ToolResult, ToolStatus, patch::PatchEmitter,
};
use foldline_testkit::{
    Fold, Law, Place, Violation, generate,
    law::{self, Accounts, Every},
    run,
};
use proptest::test_runner::TestRunner;
use serde::{Deserialize, Serialize};

const FORMAT: Format = Format::new("broken", "Broken Droid", "droid");

/// Two calls with their results, one of which failed, and the facts and the usage of a session.
const LOG: &str = r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/srv/shop","model":"model-a","tools":["Read"]}
{"type":"message","role":"user","id":"m0","text":"Please read both files,\n\nthe long one first ","timestamp":1000,"session_id":"s"}
{"type":"tool_call","id":"call_1","toolId":"read","toolName":"Read","parameters":{"file_path":"a.txt"},"timestamp":2000,"session_id":"s"}
{"type":"tool_call","id":"call_2","toolName":"Execute","parameters":{"command":"make test","timeout":30,"fast":true},"timestamp":3000,"session_id":"s"}
{"type":"tool_result","id":"call_2","isError":true,"value":"Error: Command failed (exit code: 3)\nno rule to make it","timestamp":4000,"session_id":"s"}
{"type":"tool_result","id":"call_1","isError":false,"value":"The quick brown fox jumps over it","timestamp":5500,"session_id":"s"}
{"type":"tool_call","id":"call_3","toolName":"Invite","parameters":{"names":["Ann of 1","Bob of 2","Cy of 3"]},"timestamp":5600,"session_id":"s"}
{"type":"tool_result","id":"call_3","isError":false,"value":"three were invited","timestamp":5700,"session_id":"s"}
{"type":"message","role":"assistant","id":"m1","text":"The first file has one line, and make fails","timestamp":6000,"session_id":"s"}
{"type":"completion","finalText":"The first file has one line, and make fails","numTurns":2,"durationMs":5000,"usage":{"input_tokens":70,"output_tokens":11,"cache_read_input_tokens":0},"timestamp":7000,"session_id":"s"}
"#;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Broken {
    None,
    DropsKnownRecords,
    DropsUsage,
    MultipliesUsage,
    ExchangesTokens,
    DoublesUsage,
    DropsExitCodes,
    DropsDurations,
    DropsTimes,
    ShiftsTimes,
    DropsNumbersAndBooleans,
    DoublesEntries,
    CutsHeads,
    CutsMiddles,
    CutsEnds,
    LowersCase,
    PairsByOrder,
    FlipsOutcomes,
    ExchangesRoles,
    MovesTextsToExtra,
    IsLate,
    Counts,
    RemembersAnotherSession,
    SwallowsFacts,
    ForgetsOpenCalls,
    ReversesEvents,
    DropsOutputs,
    Panics,
    Grows,
    DependsOnOrderOfFields,
    DropsWarnings,
    SwapsArguments,
    RoundsTimes,
    ReadsTheLength,
    DropsRepeatedMessages,
    TrimsTexts,
    CutsAtParagraphs,
    TakesZeroForAbsent,
    TakesAbsentForZero,
    CountsInFloats,
    ReversesLists,
    StopsAfterAThousand,
    ReadsTheEnvironment,
    SaysGoodbye,
    CountsItsOwnPrompt,
}

/// A static that outlives the state.
static COUNT: AtomicU64 = AtomicU64::new(0);

struct Mutant {
    droid: ExecutorReducer<Droid>,
    broken: Broken,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct MutantState {
    inner: Box<State<Droid>>,
    held: Vec<DomainEvent>,
    open: Vec<CorrId>,
    seen: Vec<String>,
    records: usize,
}

impl<'a> Reducer<Record<'a>, MutantState, DomainEvent> for Mutant {
    fn init(&self) -> MutantState {
        let inner = self.droid.init();
        MutantState { inner, held: Vec::new(), open: Vec::new(), seen: Vec::new(), records: 0 }
    }

    fn reduce(
        &self,
        mut state: MutantState,
        record: Record<'a>,
    ) -> (MutantState, Batch<DomainEvent>) {
        let text = match &record {
            Record::Object(object) => {
                let of = |key| object.get_str(key).unwrap_or_default().into_owned();
                if self.broken == Broken::Panics {
                    assert!(
                        object.get("value").is_none_or(foldline_json::Raw::is_string),
                        "odd input"
                    );
                }
                let first = object.clone().rest().first().map(|(name, _)| name.to_string());
                [of("type"), of("id"), first.unwrap_or_default()]
            }
            Record::Irregular(_) => Default::default(),
        };
        if self.broken == Broken::Grows {
            state.seen.push(text[1].clone());
        }
        if self.broken == Broken::DependsOnOrderOfFields && text[2] != "type" {
            return (state, Batch::EMPTY);
        }
        state.records += 1;
        if self.broken == Broken::StopsAfterAThousand && state.records > 1000 {
            return (state, Batch::EMPTY);
        }
        if self.broken == Broken::DropsKnownRecords && text[0] == "message" {
            return (state, Batch::EMPTY);
        }
        if self.broken == Broken::DropsRepeatedMessages && text[0] == "message" {
            if state.seen == [text[1].clone()] {
                return (state, Batch::EMPTY);
            }
            state.seen = vec![text[1].clone()];
        }
        let (inner, events) = self.droid.reduce(state.inner, record);
        state.inner = inner;
        let mut changed: Vec<DomainEvent> =
            events.into_iter().flat_map(|event| self.change(&mut state.open, event)).collect();
        match self.broken {
            Broken::IsLate => std::mem::swap(&mut changed, &mut state.held),
            Broken::ReversesEvents => changed.reverse(),
            _ => {}
        }
        (state, changed.into_iter().collect())
    }

    fn finish(&self, mut state: MutantState) -> (MutantState, Batch<DomainEvent>) {
        let (inner, events) = Reducer::<Record<'_>, _, _>::finish(&self.droid, state.inner);
        state.inner = inner;
        let held = std::mem::take(&mut state.held);
        let mut events =
            if self.broken == Broken::ForgetsOpenCalls { Batch::EMPTY } else { events };
        if self.broken == Broken::CountsItsOwnPrompt && state.records > 0 {
            let usage = TokenUsage { input_tokens: Some(1200), ..TokenUsage::default() };
            let (usage, model) = (Box::new(usage), None);
            events.push(DomainEvent::Usage { usage, model, message_id: None, timestamp: None });
        }
        if self.broken == Broken::SaysGoodbye && state.records > 0 {
            let text = "The session is over";
            let entry = NormalizedEntry::new(NormalizedEntryType::SystemMessage, text);
            events.push(DomainEvent::entry(entry));
        }
        (state, held.into_iter().chain(events).collect())
    }
}

impl Mutant {
    fn change(&self, open: &mut Vec<CorrId>, mut event: DomainEvent) -> Vec<DomainEvent> {
        let broken = self.broken;
        if let Some(entry) = entry_of(&mut event) {
            self.change_entry(Arc::make_mut(entry));
        }
        match &mut event {
            DomainEvent::Session(_) if broken == Broken::SwallowsFacts => return Vec::new(),
            DomainEvent::Session(facts) if broken == Broken::RemembersAnotherSession => {
                let length = facts.model.as_ref().map_or(0, Text::size) as u64;
                let before = COUNT.swap(length, Ordering::Relaxed);
                facts.turns = facts.turns.map(|turns| turns + before);
                facts.title = Some(before.to_string().into());
            }
            DomainEvent::Usage { usage, .. } => match broken {
                Broken::DropsUsage => return Vec::new(),
                Broken::DoublesUsage => return vec![event.clone(), event],
                Broken::MultipliesUsage => {
                    usage.input_tokens = usage.input_tokens.map(|tokens| tokens * 10);
                }
                Broken::TakesZeroForAbsent => {
                    usage.cache_read_tokens = usage.cache_read_tokens.filter(|tokens| *tokens > 0);
                }
                Broken::TakesAbsentForZero => {
                    usage.cache_read_tokens = usage.cache_read_tokens.or(Some(0));
                }
                Broken::CountsInFloats => {
                    let through_float = |tokens| tokens as f64 as u64;
                    usage.input_tokens = usage.input_tokens.map(through_float);
                }
                Broken::ExchangesTokens => {
                    std::mem::swap(&mut usage.input_tokens, &mut usage.output_tokens);
                }
                _ => {}
            },
            DomainEvent::NewEntry { .. } if broken == Broken::DoublesEntries => {
                return vec![event.clone(), event];
            }
            DomainEvent::Warning(_) if broken == Broken::DropsWarnings => return Vec::new(),
            DomainEvent::NewToolCall { corr_id, .. } if broken == Broken::PairsByOrder => {
                open.push(corr_id.clone());
            }
            DomainEvent::UpdateToolCall { corr_id, .. }
                if broken == Broken::PairsByOrder && !open.is_empty() =>
            {
                *corr_id = open.remove(0);
            }
            _ => {}
        }
        vec![event]
    }

    fn change_entry(&self, entry: &mut NormalizedEntry) {
        let text = entry.content.decode().into_owned();
        let at = text.chars().count() / 2;
        let part = |keep: &dyn Fn(usize) -> bool| -> Text {
            let kept = text.chars().enumerate().filter(|(index, _)| keep(*index));
            kept.map(|(_, c)| c).collect::<String>().into()
        };
        let is_message = matches!(
            entry.entry_type,
            NormalizedEntryType::UserMessage | NormalizedEntryType::AssistantMessage
        );
        match self.broken {
            Broken::DropsTimes => entry.timestamp = None,
            Broken::ShiftsTimes | Broken::RoundsTimes => {
                entry.timestamp = entry.timestamp.map(|time| {
                    let millis = time.as_millis();
                    let changed = match self.broken {
                        Broken::ShiftsTimes => millis + 3_600_000,
                        _ => millis / 1000 * 1000,
                    };
                    foldline_domain::Timestamp::from_millis(changed)
                });
            }
            Broken::CutsHeads if is_message => entry.content = part(&|index| index > 2),
            Broken::CutsMiddles if is_message => entry.content = part(&|index| index != at),
            Broken::CutsEnds if is_message => entry.content = part(&|index| index < 30),
            Broken::TrimsTexts => entry.content = text.trim().into(),
            Broken::CutsAtParagraphs => {
                entry.content = text.split("\n\n").next().unwrap_or_default().into();
            }
            Broken::LowersCase if is_message => entry.content = text.to_lowercase().into(),
            Broken::ReadsTheLength if is_message => {
                entry.content = format!("{} characters", text.chars().count()).into();
            }
            Broken::Counts if is_message => {
                let count = COUNT.fetch_add(1, Ordering::Relaxed);
                entry.content = format!("{text}{count}").into();
            }
            Broken::ReadsTheEnvironment if is_message => {
                let zone = std::env::var("TZ").unwrap_or_default();
                entry.content = format!("{text}{zone}").into();
            }
            Broken::MovesTextsToExtra if is_message => {
                let content = std::mem::take(&mut entry.content);
                entry.metadata_mut().extra.insert("text", content.into());
            }
            Broken::ExchangesRoles => {
                entry.entry_type = match &entry.entry_type {
                    NormalizedEntryType::UserMessage => NormalizedEntryType::AssistantMessage,
                    NormalizedEntryType::AssistantMessage => NormalizedEntryType::UserMessage,
                    other => other.clone(),
                };
            }
            Broken::DropsNumbersAndBooleans => {
                if let Some(metadata) = &mut entry.metadata {
                    metadata.extra = Default::default();
                }
            }
            _ => {}
        }
        let Some(tool) = entry.tool_mut() else { return };
        match self.broken {
            Broken::DropsDurations => tool.duration_ms = None,
            Broken::FlipsOutcomes => {
                tool.status = match &tool.status {
                    ToolStatus::Success => ToolStatus::Failed,
                    ToolStatus::Failed => ToolStatus::Success,
                    other => other.clone(),
                };
            }
            Broken::DropsOutputs => match &mut tool.action_type {
                ActionType::CommandRun { result: Some(result), .. } => result.output = None,
                ActionType::FileRead { result, .. } => *result = None::<ToolResult>,
                _ => {}
            },
            Broken::DropsExitCodes => {
                if let ActionType::CommandRun { result: Some(result), .. } = &mut tool.action_type {
                    result.exit_status = None;
                }
            }
            Broken::ReversesLists => {
                if let ActionType::Tool { arguments: Some(arguments), .. } = &mut tool.action_type {
                    let mut value: serde_json::Value =
                        serde_json::from_str(arguments.get()).unwrap();
                    value["names"].as_array_mut().unwrap().reverse();
                    *arguments = foldline_domain::Json::from(&value);
                }
            }
            Broken::SwapsArguments => {
                if let ActionType::FileRead { path, .. } = &mut tool.action_type {
                    *path = "another.txt".into();
                }
            }
            _ => {}
        }
    }
}

fn entry_of(event: &mut DomainEvent) -> Option<&mut Arc<NormalizedEntry>> {
    match event {
        DomainEvent::NewEntry { entry }
        | DomainEvent::OpenEntry { entry, .. }
        | DomainEvent::CloseEntry { entry: Some(entry), .. }
        | DomainEvent::NewToolCall { entry, .. }
        | DomainEvent::UpdateToolCall { entry, .. } => Some(entry),
        _ => None,
    }
}

fn mutant(broken: Broken) -> RecordReducer<Mutant, MutantState> {
    let recognise = |object: &Object<'_>| Evidence::possible_if(object.has("type"));
    let mutant = Mutant { droid: ExecutorReducer::new(Droid), broken };
    RecordReducer::new(&FORMAT, recognise, mutant)
        .with_session(|object| object.get_str("session_id"))
}

/// The accounts of the correct executor, which a person has read.
fn accounts() -> Accounts {
    Accounts::of(mutant(Broken::None), [LOG])
        .to_string()
        .replace('?', "the name again")
        .parse()
        .unwrap()
}

fn violation(broken: Broken) -> Option<Violation> {
    let accounts = accounts();
    Every::of(mutant(broken)).accounting(&accounts).check(LOG.as_bytes()).err()
}

#[test]
fn the_correct_executor_passes() {
    assert_eq!(violation(Broken::None), None);
}

#[test]
fn each_broken_executor_is_caught_by_a_law_that_is_named() {
    use Broken as B;
    let table: &[(B, &[Law])] = &[
        (B::DropsKnownRecords, &[Law::Account]),
        (B::DropsUsage, &[Law::Account]),
        (B::MultipliesUsage, &[Law::Account]),
        (B::ExchangesTokens, &[Law::Account]),
        (B::DoublesUsage, &[Law::Account]),
        (B::DropsExitCodes, &[Law::Account]),
        (B::DropsDurations, &[Law::Account]),
        (B::DropsTimes, &[Law::Account]),
        (B::ShiftsTimes, &[Law::Account]),
        (B::RoundsTimes, &[Law::Account]),
        (B::DropsNumbersAndBooleans, &[Law::UnknownContent, Law::Account]),
        (B::DoublesEntries, &[Law::Account]),
        (B::CutsHeads, &[Law::Account]),
        (B::CutsMiddles, &[Law::Account]),
        (B::CutsEnds, &[Law::Account]),
        (B::LowersCase, &[Law::Account]),
        (B::ReadsTheLength, &[Law::Account]),
        (B::PairsByOrder, &[Law::OrderOfResults, Law::Pairing]),
        (B::FlipsOutcomes, &[Law::Account]),
        (B::ExchangesRoles, &[Law::Account]),
        (B::MovesTextsToExtra, &[Law::Account]),
        (B::IsLate, &[Law::Account, Law::OrderOfResults, Law::Balance]),
        (B::Counts, &[Law::Determinism]),
        (B::RemembersAnotherSession, &[Law::Determinism, Law::Sessions]),
        (B::SwallowsFacts, &[Law::Account]),
        (B::ForgetsOpenCalls, &[Law::Balance]),
        (B::ReversesEvents, &[Law::OrderOfResults, Law::Balance]),
        (B::DropsOutputs, &[Law::Account]),
        (B::Panics, &[Law::Totality]),
        (B::Grows, &[Law::BoundedState]),
        (B::DependsOnOrderOfFields, &[Law::EscapedText, Law::Account]),
        (B::DropsWarnings, &[Law::UnknownContent, Law::Account]),
        (B::SwapsArguments, &[Law::Account]),
        (B::DropsRepeatedMessages, &[Law::Account]),
        (B::TrimsTexts, &[Law::Account]),
        (B::CutsAtParagraphs, &[Law::Account]),
        (B::TakesZeroForAbsent, &[Law::Account]),
        (B::TakesAbsentForZero, &[Law::Account]),
        (B::CountsInFloats, &[Law::Account]),
        (B::ReversesLists, &[Law::Account]),
    ];
    let mut faults = "| fault of an executor | law |\n| --- | --- |\n".to_owned();
    for (broken, laws) in table {
        // The last call is not answered.
        let open =
            LOG.lines().filter(|line| !line.contains("jumps")).collect::<Vec<_>>().join("\n");
        let log = match broken {
            B::ForgetsOpenCalls => open,
            // A value that is no string, which only a later release writes.
            B::Panics => LOG.replace("\"The quick brown fox jumps over it\"", "17"),
            _ => LOG.to_owned(),
        };
        let accounts = accounts();
        let result = Every::of(mutant(*broken)).accounting(&accounts).check(log.as_bytes());
        let violation = result.expect_err(&format!("{broken:?} passes"));
        assert!(laws.contains(&violation.law), "{broken:?}: {violation}");
        let law = violation.law;
        faults += &format!("| {} | {} {} |\n", words(*broken), law.number(), law.name());
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/law/faults.md");
    if std::env::var_os("FOLDLINE_RENEW").is_some() {
        std::fs::write(path, &faults).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), faults, "renew the table");
}

/// A log of a few records does not show it.
#[test]
fn an_executor_that_stops_after_a_thousand_records_is_caught() {
    assert_eq!(violation(Broken::StopsAfterAThousand), None);
    let length = |broken| law::length(&mutant(broken).into(), LOG.as_bytes());
    assert_eq!(length(Broken::None), Ok(law::Outcome::Checked));
    let violation = length(Broken::StopsAfterAThousand).unwrap_err();
    assert_eq!((violation.law, violation.place), (Law::Length, Place::Line(1001)));
}

/// An entry or a number that depends on nothing in the log, so that no change of the log shows it.
#[test]
fn an_executor_that_invents_an_entry_or_a_number_is_caught() {
    let said = |broken| law::invention(&mutant(broken).into(), LOG.as_bytes(), &[]);
    assert_eq!(said(Broken::None), Ok(law::Outcome::Checked));
    for broken in [Broken::SaysGoodbye, Broken::CountsItsOwnPrompt] {
        assert_eq!(violation(broken), None);
        assert_eq!(said(broken).unwrap_err().law, Law::Invention);
    }
}

#[test]
fn an_executor_that_reads_the_environment_is_caught() {
    let read = |broken| {
        let executor = mutant(broken).into();
        law::environment(&[LOG], |log| format!("{:#?}", Fold::of(&executor, log.as_bytes())))
    };
    assert_eq!(read(Broken::None), Ok(law::Outcome::Checked));
    assert_eq!(read(Broken::ReadsTheEnvironment).unwrap_err().law, Law::Environment);
}

/// The name of what is broken, in words.
fn words(broken: Broken) -> String {
    let mut words = String::new();
    for character in format!("{broken:?}").chars() {
        if character.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(character.to_lowercase());
    }
    words
}

/// A violation lists all fields, in the syntax of the file in which they would be declared.
#[test]
fn a_violation_lists_every_field() {
    let text = violation(Broken::ExchangesTokens).unwrap().to_string();
    for line in [
        "completion usage.input_tokens = usage.output_tokens",
        "completion usage.output_tokens = usage.input_tokens",
        "declared: completion usage.output_tokens = usage.output_tokens",
    ] {
        assert!(text.contains(line), "{text}");
    }
}

/// Odd input is generated for an author who has no such log.
#[test]
fn a_panic_is_found_in_mutated_logs() {
    let log = generate::mutated(LOG.as_bytes());
    let result = TestRunner::deterministic().run(&log, |log| {
        let every = Every::of(mutant(Broken::Panics));
        every.without(&Law::OF_REGULAR_LOGS).check(&log)?;
        Ok(())
    });
    let failure = result.unwrap_err().to_string();
    assert!(failure.contains("it panics: odd input"), "{failure}");
}

/// A plain reducer of anything: the laws that need no agent.
#[test]
fn broken_plain_reducers_are_caught() {
    use foldline::transduce::reduce_fn;
    let restore = |json: &str| serde_json::from_str::<u64>(json);
    let inputs = [3, 1, 2];
    let sum = reduce_fn(|| 0, |sum: u64, n: u64| (sum + n, Batch::one(sum + n)));
    law::determinism(&sum, &inputs).unwrap();
    law::split_invariance(&sum, restore, &inputs).unwrap();
    let leaky = reduce_fn(
        || 0,
        |sum: u64, n: u64| (sum + n, Batch::one(sum + n + COUNT.fetch_add(1, Ordering::Relaxed))),
    );
    assert_eq!(law::determinism(&leaky, &inputs).unwrap_err().law, Law::Determinism);
    let panics = reduce_fn(
        || 0,
        |sum: u64, n: u64| {
            assert!(n != 2, "two");
            (sum, Batch::one(n))
        },
    );
    let violation = law::determinism(&panics, &inputs).unwrap_err();
    assert!(violation.to_string().contains("it panics: two"), "{violation}");
    let forgets = |json: &str| serde_json::from_str::<u64>(json).map(|sum| sum / 2);
    let violation = law::split_invariance(&sum, forgets, &inputs).unwrap_err();
    assert_eq!(violation.law, Law::SplitInvariance);
}

fn events() -> Vec<DomainEvent> {
    run::events(&ExecutorReducer::new(Droid), &run::records(LOG))
}

/// A transcript of the messages, as an author would write it.
fn said(events: &[DomainEvent], broken: &str) -> String {
    let mut text = String::new();
    for event in events {
        let DomainEvent::NewEntry { entry } = event else { continue };
        text += &match broken {
            "drops" if text.len() > 40 => continue,
            "nothing" => continue,
            "cuts" => entry.content.decode().chars().take(10).collect::<String>(),
            _ => format!("{}: {}\n", entry.entry_type.name(), entry.content),
        };
    }
    text
}

#[test]
fn broken_consumers_are_caught() {
    let events = events();
    let observed = law::consumer_account(|events| said(events, ""), &events, None);
    let lines = observed.unwrap_err().to_string();
    assert!(lines.contains("new_tool_call data.entry.content = dropped: ?"), "{lines}");
    let accounts: Accounts = "\
        new_entry data.entry.content = shown\n\
        new_entry data.entry.entry_type.type = decides\n\
        new_entry data.entry = dropped: times and ids\n\
        new_tool_call data = dropped: only messages are shown\n\
        update_tool_call data = dropped: only messages are shown\n\
        session data = dropped: only messages are shown\n\
        usage data = dropped: only messages are shown\n\
        warning data = dropped: only messages are shown\n\
        * event = decides\n"
        .replace("* event = decides\n", "new_entry event = decides\n")
        .parse()
        .unwrap();
    law::consumer_account(|events| said(events, ""), &events, Some(&accounts)).unwrap();
    for broken in ["drops", "nothing", "cuts"] {
        let result = law::consumer_account(|events| said(events, broken), &events, Some(&accounts));
        assert_eq!(result.unwrap_err().law, Law::Account, "{broken}");
    }
    // Patches.
    let mut patches = PatchEmitter::default();
    let mut count = 0;
    let drops = emit_fn(move |event: &DomainEvent| {
        count += 1;
        if count == 4 { Batch::EMPTY } else { patches.emit(event) }
    });
    assert!(law::commuting_diagram(drops, &events).is_err());
    let panics = emit_fn(|_: &DomainEvent| -> Batch<foldline_domain::patch::ConversationPatch> {
        panic!("an emitter that panics")
    });
    let violation = law::commuting_diagram(panics, &events).unwrap_err();
    assert!(violation.to_string().contains("it panics: an emitter that panics"), "{violation}");
}

/// The facts of a session reach the next one in a consumer that keeps them for the whole stream.
#[test]
fn a_consumer_that_mixes_sessions_is_caught() {
    let session = |model: &str| Session { model: Some(model.into()), ..Session::default() };
    let fact = |key, model| {
        let event = DomainEvent::Session(Box::new(session(model)));
        Located::new(Default::default(), event).in_session(SessionKey(key))
    };
    let events = [fact(0, "a"), fact(1, "b"), fact(0, "c")];
    let models = |of: Option<SessionKey>, events: &[Located<DomainEvent>]| -> Vec<String> {
        let own = events.iter().filter(|event| of.is_none_or(|of| event.session == of));
        own.filter_map(|event| match &event.item {
            DomainEvent::Session(facts) => facts.model.as_ref().map(Text::to_string),
            _ => None,
        })
        .collect()
    };
    law::consumer_sessions(|session, events| models(Some(session), events), &events).unwrap();
    let mixed = law::consumer_sessions(|_, events| models(None, events), &events).unwrap_err();
    assert_eq!(mixed.law, Law::Sessions);
}

/// A declaration for everything would be none.
#[test]
fn accounts_that_declare_nothing_are_refused() {
    for text in [
        "* * = dropped: any",
        "message text",
        "message text = ",
        "message text = dropped: ",
        "message text = somewhere",
        "message text = user_message.content (sometimes)",
        "tool_* id = decides",
        "message = decides",
        "message id = decides\nmessage id = checked",
    ] {
        assert!(text.parse::<Accounts>().is_err(), "{text}");
    }
    // A generated line without a reason.
    let accounts: Accounts = Accounts::of(mutant(Broken::None), [LOG]).to_string().parse().unwrap();
    assert!(accounts.check(mutant(Broken::None), [LOG]).is_err());
    let every = Every::of(mutant(Broken::None)).accounting(&accounts);
    assert_eq!(every.check(LOG.as_bytes()).unwrap_err().law, Law::Account);
    self::accounts().check(mutant(Broken::None), [LOG]).unwrap();
}
