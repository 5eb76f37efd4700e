//! A panic in a foreign reducer or emitter: it is reported, other consumers continue, and a run resumes from the last
//! checkpoint after the cause is fixed.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
};

use foldline::{
    processor::{DEFAULT_MAX_LINE, Processor, Snapshot},
    transduce::{Batch, Emitter, Fault, Keyed, Reducer, Resume, Transducer, emit_fn, guard},
};
use foldline_agents::{ExecutorReducer, Records, State, droid::Droid, wire::Record};
use foldline_domain::{
    DomainEvent, Json, Located, LocatingState, locating,
    patch::{ConversationPatch, PatchEmitter},
};
use foldline_testkit::run;

/// A foreign executor with a bug until it is fixed.
#[derive(Clone, Copy)]
struct Theirs {
    executor: ExecutorReducer<Droid>,
    is_mended: bool,
}

impl Theirs {
    fn new(is_mended: bool) -> Self {
        Self { executor: ExecutorReducer::new(Droid), is_mended }
    }
}

impl<'a> Reducer<Record<'a>, Box<State<Droid>>, DomainEvent> for Theirs {
    fn init(&self) -> Box<State<Droid>> {
        self.executor.init()
    }
    fn reduce(
        &self,
        state: Box<State<Droid>>,
        record: Record<'a>,
    ) -> (Box<State<Droid>>, Batch<DomainEvent>) {
        assert!(self.is_mended || field(&record, "value") != "no", "an answer they forgot");
        self.executor.reduce(state, record)
    }
    fn finish(&self, state: Box<State<Droid>>) -> (Box<State<Droid>>, Batch<DomainEvent>) {
        self.executor.finish(state)
    }
}

fn field(record: &Record<'_>, name: &str) -> String {
    let Record::Object(object) = record else { return String::new() };
    object.get_str(name).unwrap_or_default().into_owned()
}

/// Two sessions in one log, with open calls where one of them panics.
fn log() -> String {
    let mut log = String::new();
    for n in 0..12 {
        let session = ["a", "b"][n % 2];
        let value = if n == 6 { "no" } else { "yes" };
        let id = n / 4;
        log += &match n % 4 {
            0 | 1 => format!(
                r#"{{"type":"tool_call","session_id":"{session}","id":"c{id}","toolName":"Read","parameters":{{}}}}"#
            ),
            _ => format!(
                r#"{{"type":"tool_result","session_id":"{session}","id":"c{id}","isError":false,"value":"{value}"}}"#
            ),
        };
        log.push('\n');
    }
    log
}

type States = BTreeMap<String, Option<Box<State<Droid>>>>;
type Said = BTreeMap<String, Vec<Result<DomainEvent, Fault>>>;

/// Reduces the lines, collects the events of each session, and returns the stored state before each line.
fn read(reducer: Theirs, begun: States, lines: &[&str], said: &mut Said) -> Vec<String> {
    let by_session = Keyed::new(guard(reducer), |record: &Record<'_>| field(record, "session_id"));
    let each = emit_fn(|event: &(String, Result<DomainEvent, Fault>)| Batch::one(event.clone()));
    let mut shell = Transducer::restore(by_session, begun, each);
    let mut stored = Vec::new();
    let mut keep = |(session, event)| said.entry(session).or_default().push(event);
    for line in lines {
        stored.push(serde_json::to_string(shell.state()).unwrap());
        for record in run::records(line) {
            shell.step_with(record, &mut keep);
        }
    }
    // The type of the input is irrelevant at the end, but must be specified.
    let (_, _, rest) = shell.finish::<Record<'_>, _, _>();
    rest.drain_with(keep);
    stored
}

#[test]
fn the_other_sessions_go_on_and_the_broken_one_from_its_checkpoint() {
    let log = log();
    let lines: Vec<&str> = log.lines().collect();
    let (mut expected, mut said) = (Said::new(), Said::new());
    read(Theirs::new(true), States::new(), &lines, &mut expected);
    let stored = read(Theirs::new(false), States::new(), &lines, &mut said);

    assert_eq!(said["b"], expected["b"]);
    let is_fault = |event: &Result<DomainEvent, Fault>| event.is_err();
    let at = said["a"].iter().position(is_fault).unwrap();
    assert_eq!(said["a"][..at], expected["a"][..at]);
    let [Err(Fault::Panicked(message)), skipped @ ..] = &said["a"][at..] else {
        panic!("{:#?}", said["a"])
    };
    assert_eq!(message, "an answer they forgot");
    let after = lines[7..].iter().filter(|line| line.contains(r#""session_id":"a""#)).count();
    assert_eq!(skipped, vec![Err(Fault::Skipped); after]);

    // The last checkpoint with the session's state precedes the line that panicked.
    let has_state = |stored: &String| {
        let states: States = serde_json::from_str(stored).unwrap();
        states.get("a").is_none_or(Option::is_some)
    };
    let last = stored.iter().rposition(has_state).unwrap();
    assert_eq!(last, 6);
    let states = serde_json::from_str(&stored[last]).unwrap();
    said.get_mut("a").unwrap().truncate(at);
    let mut rest = Said::new();
    read(Theirs::new(true), states, &lines[last..], &mut rest);
    said.get_mut("a").unwrap().extend(rest.remove("a").unwrap());
    assert_eq!(said["a"], expected["a"]);
}

/// The emitted events as JSON.
#[derive(Clone, Default)]
struct Events(Vec<String>);

impl Emitter<Located<DomainEvent>, ()> for Events {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<()> {
        self.0.push(serde_json::to_string(event).unwrap());
        Batch::EMPTY
    }
}

/// The state is the number of events; the events themselves are an output.
impl Resume for Events {
    type State = usize;

    fn state(&self) -> usize {
        self.0.len()
    }

    fn resume(&mut self, count: usize) {
        self.0.truncate(count);
    }
}

type Stored = Snapshot<LocatingState<Box<State<Droid>>>, usize>;

#[test]
fn a_log_goes_on_from_the_checkpoint_before_the_panic() {
    let log = log();
    let mut whole =
        Processor::new(Records, Transducer::new(locating(Theirs::new(true)), Events::default()));
    whole.push(log.as_bytes(), |()| {});
    let Events(expected) = whole.finish(|()| {}).emitter;

    let mut broken =
        Processor::new(Records, Transducer::new(locating(Theirs::new(false)), Events::default()));
    let mut stored = Json::default();
    let panicked = log.split_inclusive('\n').find_map(|line| {
        stored = broken.snapshot().to_json().unwrap();
        catch_unwind(AssertUnwindSafe(|| broken.push(line.as_bytes(), |()| {}))).err()
    });
    assert_eq!(panicked.unwrap().downcast_ref::<&str>(), Some(&"an answer they forgot"));
    // There is no state for a checkpoint, and no substitute.
    assert!(broken.transducer().is_poisoned());
    assert!(catch_unwind(AssertUnwindSafe(|| broken.snapshot().counts)).is_err());
    let more = catch_unwind(AssertUnwindSafe(|| broken.push(log.as_bytes(), |()| {})));
    assert!(more.is_err());

    let stored = Stored::from_json(&stored).unwrap();
    let events = std::mem::take(broken.emitter_mut());
    let offset = stored.framer.position.offset as usize;
    let reducer = locating(Theirs::new(true));
    let mut mended = Processor::resume(Records, reducer, stored, events, DEFAULT_MAX_LINE);
    mended.push(&log.as_bytes()[offset..], |()| {});
    assert_eq!(mended.finish(|()| {}).emitter.0, expected);
}

/// Counts the events, with a bug until it is fixed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Count {
    events: usize,
    breaks_at: usize,
}

impl Emitter<DomainEvent, usize> for Count {
    fn emit(&mut self, _: &DomainEvent) -> Batch<usize> {
        self.events += 1;
        assert!(self.events != self.breaks_at, "a number they did not expect");
        Batch::one(self.events)
    }
    fn finish(&mut self) -> Batch<usize> {
        Batch::one(self.events * 1000)
    }
}

#[test]
fn the_other_emitters_go_on_and_the_broken_one_from_its_checkpoint() {
    type Out = (Batch<ConversationPatch>, Batch<Result<usize, Fault>>);

    let log = log();
    let records = run::records(&log);
    let alone = Transducer::new(Theirs::new(true), PatchEmitter::default()).over(records.clone());
    let alone: Vec<ConversationPatch> = alone.collect();

    let theirs = guard(Count { events: 0, breaks_at: 4 });
    let mut both = Transducer::new(Theirs::new(true), (PatchEmitter::default(), theirs));
    let (mut patches, mut counts) = (Vec::new(), Vec::new());
    let mut take = |out: Batch<Out>| {
        for (patch, count) in out {
            patches.extend(patch);
            counts.extend(count);
        }
    };
    let mut before = Vec::new();
    for record in records.clone() {
        before.push(both.emitter().1);
        take(both.step(record));
    }
    let (_, (_, theirs), rest) = both.finish::<Record<'_>, _, _>();
    take(rest);
    assert_eq!(patches, alone);
    assert!(theirs.is_lost());
    let told = Err(Fault::Panicked("a number they did not expect".to_owned()));
    assert_eq!(counts[..4], [Ok(1), Ok(2), Ok(3), told]);
    assert!(counts.len() > 4 && counts[4..].iter().all(|count| *count == Err(Fault::Skipped)));

    // From the state before the line that panicked.
    let last = before.iter().rposition(|theirs| !theirs.is_lost()).unwrap();
    let mended = Count { breaks_at: 0, ..before[last].into_inner() };
    let mut states = Transducer::new(Theirs::new(true), ());
    for record in &records[..last] {
        states.step_with(record.clone(), |never| match never {});
    }
    let (reducer, state, ()) = states.into_parts();
    let rest = Transducer::restore(reducer, state.unwrap(), mended).over(records[last..].to_vec());
    let whole = Transducer::new(Theirs::new(true), Count { events: 0, breaks_at: 0 }).over(records);
    let whole: Vec<usize> = whole.collect();
    let rest: Vec<usize> = rest.collect();
    assert!(rest.len() > 1);
    assert_eq!(whole[whole.len() - rest.len()..], rest);
}
