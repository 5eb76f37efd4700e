//! Every law for an executor; [`Report`]: the laws that were checked on a log, and the vacuous ones.

use std::{collections::BTreeSet, fmt, ops::Deref};

use foldline::{
    laws::{self, Outcome, caught},
    transduce::{Batch, Emitter, emit_fn},
};
use foldline_agents::{
    DynExecutor, SessionKeyOf, Sessions,
    wire::{Object, Record},
};
use foldline_domain::{Conversation, DomainEvent, WarningKind, patch::PatchEmitter};

use super::{
    Accounts, Counts, account, balance, bounded_state, chunk_invariance, commuting_diagram,
    dense_indices, determinism, independence, only_end_a_call, order_of_results, pairing, reading,
    sessions, sessions::stamped, spelling, split_invariance, totality, unknown_content,
};
use crate::{Law, Place, Violation, run};

/// Checks every law for an executor and one log, with the emitters of this crate. The cuts of law 3 and the orders of
/// law 5 are fixed; a property test tries more, see [`generate::mutated`](crate::generate::mutated).
///
/// What becomes of each field is declared with [`Every::accounting`]:
///
/// ```
/// use foldline_agents::droid::Droid;
/// use foldline_testkit::{Law, law};
///
/// let log = br#"{"type":"message","role":"user","id":"m1","text":"hi","timestamp":1}"#;
/// let accounts: law::Accounts = "\
/// message (again) = +user_message
/// message id = user_message.metadata.messageId
/// message role = decides; system_message.metadata.extra.role (altered)
/// message text = user_message.content
/// message timestamp = user_message.timestamp
/// message type = message -> +session; message -> +user_message
/// ".parse()?;
/// let report = law::Every::of(Droid).accounting(&accounts).check(log)?;
/// assert!(report.is_checked(Law::Account));
/// assert!(!report.is_checked(Law::Balance), "there is no call in this log");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The first violated law.
pub fn every(executor: impl Into<DynExecutor>, log: &[u8]) -> Result<Report, Violation> {
    Every::of(executor).check(log)
}

/// Checks every law for an executor, like [`every`].
#[derive(Clone, Debug)]
pub struct Every<'e> {
    executor: DynExecutor,
    accounts: Option<&'e Accounts>,
    without: &'e [Law],
}

impl<'e> Every<'e> {
    /// The laws for this executor: a custom one, or one of a registry.
    pub fn of(executor: impl Into<DynExecutor>) -> Self {
        Self { executor: executor.into(), accounts: None, without: &[] }
    }

    /// Declares what becomes of each field. Without it, a field only has to have an effect.
    #[must_use]
    pub fn accounting(mut self, accounts: &'e Accounts) -> Self {
        self.accounts = Some(accounts);
        self
    }

    /// Omits these laws, if they do not apply to the log: [`Law::OF_REGULAR_LOGS`] for a damaged one. (Law 6 is always
    /// checked.)
    ///
    /// Law 5, for instance, is about results that only contain the output of a tool. If they also state the agent's
    /// current folder, their order matters.
    #[must_use]
    pub fn without(mut self, laws: &'e [Law]) -> Self {
        self.without = laws;
        self
    }

    /// Checks every law on a log.
    ///
    /// # Errors
    /// The first violated law.
    pub fn check(&self, log: &[u8]) -> Result<Report, Violation> {
        let executor = &self.executor;
        let text = String::from_utf8_lossy(log);
        let mut report = Report::default();
        report.laws.skip(&[Law::Ledger], "it is about ledgers: see `testkit::ledger`");
        report.laws.skip(self.without, "omitted");
        let records = run::records(&text);
        // A hidden memory beyond the state is already visible in the first run.
        let is_determined =
            caught(Law::Determinism, Place::Unknown, || determinism(executor, &records));
        // The law about panics is reported first, because it names the line.
        report.counts = totality(executor, log, |record| self.read(record))?;
        let about_records = match records.is_empty() {
            true => Outcome::Vacuous("no record"),
            false => Outcome::Checked,
        };
        report.laws.outcomes.insert(Law::Totality, about_records);
        report.laws.check(Law::Determinism, || is_determined.map(|()| about_records))?;
        report.laws.check(Law::SplitInvariance, || {
            split_invariance(executor, |json| executor.restore(json), &records)
                .map(|()| about_records)
        })?;
        report.laws.check(Law::ChunkInvariance, || {
            // Every byte of a short log; pieces of odd lengths in a long one.
            for length in [log.len() / 512 + 1, 4096] {
                let cuts: Vec<_> = (0..log.len()).step_by(length).collect();
                chunk_invariance(executor, log, &cuts)?;
            }
            Ok(about_records)
        })?;
        report.laws.check(Law::OrderOfResults, || order(executor, &records))?;
        report.laws.check(Law::Sessions, || interleaved(executor, &records, &text))?;
        let events = caught(Law::ChunkInvariance, Place::Unknown, || {
            Ok(run::sourced_events(executor, [log]))
        })?;
        let events: Vec<_> = events.into_iter().map(|event| event.item).collect();
        about_events(&mut report, &events)?;
        let mut examined = 0;
        report.laws.check(Law::Account, || {
            examined = account(executor, log, self.accounts)?;
            let is_vacuous = examined == 0;
            Ok(if is_vacuous { Outcome::Vacuous("no scalar") } else { Outcome::Checked })
        })?;
        report.examined = examined;
        report.laws.check(Law::Pairing, || pairing(executor, log))?;
        report.laws.check(Law::UnknownContent, || unknown_content(executor, log))?;
        report.laws.check(Law::EscapedText, || spelling(executor, log))?;
        report.laws.check(Law::BoundedState, || bounded_state(executor, log))?;
        Ok(report)
    }

    /// The executor's reading of a record. Recognising the record and finding its session must not panic, either.
    fn read(&self, record: &Record<'_>) -> (super::Reading, String) {
        if let Record::Object(object) = record {
            let _ = (self.executor.recognise(object), self.executor.session(object));
        }
        reading(&self.executor, record)
    }
}

fn order(reducer: &DynExecutor, records: &[Record<'_>]) -> Result<Outcome, Violation> {
    if !names_every_call(&run::events(reducer, records)) {
        return Ok(Outcome::Skipped("results are paired by order here, or an id is used twice"));
    }
    let results = only_end_a_call(reducer, records);
    if !results.contains(&true) {
        return Ok(Outcome::Vacuous("no record that is a result and nothing else"));
    }
    for order in [&[0][..], &[usize::MAX], &[7, 5, 3, 2, 1, 0], &[1 << 9, 1 << 20, 3]] {
        let is_result = |index, _: &Record<'_>| results.get(index) == Some(&true);
        order_of_results(reducer, records, is_result, order)?;
    }
    Ok(Outcome::Checked)
}

/// The log, interleaved with a copy of it under another session id, and with the same call ids.
fn interleaved(
    executor: &DynExecutor,
    records: &[Record<'_>],
    log: &str,
) -> Result<Outcome, Violation> {
    stamped(&run::located_events(Sessions::new(executor), [log.as_bytes()]))?;
    let names = records.iter().map(|record| executor.session_of(record));
    let Some(names) = names.collect::<Option<BTreeSet<_>>>() else {
        return Ok(Outcome::Vacuous("not every record names its session"));
    };
    let [name] = Vec::from_iter(names).try_into().unwrap_or_default();
    let is_record = |line: &str| Object::parse(line).is_ok();
    if !log.lines().all(is_record) {
        return Ok(Outcome::Vacuous("not every line is a record"));
    }
    let copy = log.replace(&format!("\"{name}\""), &format!("\"{name}-2\""));
    if name.is_empty() || copy == log {
        return Ok(Outcome::Vacuous("its records do not name one session"));
    }
    for turns in [[true, false, true, false], [false, true, true, true], [true, true, false, false]]
    {
        sessions(executor, [log, &copy], turns.into_iter().cycle().take(2 * records.len()))?;
    }
    Ok(Outcome::Checked)
}

/// The laws about events and the output of emitters.
fn about_events(report: &mut Report, events: &[DomainEvent]) -> Result<(), Violation> {
    let outcome = |missing, is_there: fn(&DomainEvent) -> bool| match events.iter().any(is_there) {
        true => Outcome::Checked,
        false => Outcome::Vacuous(missing),
    };
    let opens = |event: &DomainEvent| {
        matches!(event, DomainEvent::NewToolCall { .. } | DomainEvent::OpenEntry { .. })
    };
    let adds = |event: &DomainEvent| {
        let opens =
            matches!(event, DomainEvent::NewToolCall { .. } | DomainEvent::OpenEntry { .. });
        opens || matches!(event, DomainEvent::NewEntry { .. })
    };
    let about_events = outcome("no event", |_| true);
    report.laws.check(Law::Balance, || {
        balance(events).map(|()| outcome("no tool call and no entry that grows", opens))
    })?;
    report.laws.check(Law::CommutingDiagram, || {
        commuting_diagram(PatchEmitter::default(), events).map(|()| about_events)
    })?;
    report.laws.check(Law::Independence, || {
        independence(PatchEmitter::default, documents, events).map(|()| about_events)
    })?;
    report.laws.check(Law::DenseIndices, || {
        dense_indices(PatchEmitter::default(), events).map(|()| outcome("no entry", adds))
    })
}

/// Whether law 5 applies to these events.
fn names_every_call(events: &[DomainEvent]) -> bool {
    !events.iter().any(|event| match event {
        DomainEvent::Warning(warning) => matches!(
            warning.kind,
            WarningKind::InferredResult | WarningKind::DuplicateCall | WarningKind::DuplicateResult
        ),
        _ => false,
    })
}

/// An additional emitter for fan-outs: the number of entries after each event.
fn documents() -> impl Emitter<DomainEvent, usize> {
    let mut conversation = Conversation::default();
    emit_fn(move |event: &DomainEvent| {
        conversation.apply(event);
        Batch::one(conversation.entries.len())
    })
}

/// The laws that were checked on a log. It is displayed as a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The outcome of each law.
    pub laws: laws::Report,
    /// The counts of law 6.
    pub counts: Counts,
    /// The number of scalars that the law of accounts examined.
    pub examined: usize,
}

impl Deref for Report {
    type Target = laws::Report;

    fn deref(&self) -> &laws::Report {
        &self.laws
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { records, ignored } = &self.counts;
        write!(f, "{}{records} records, {} scalars examined", self.laws, self.examined)?;
        ignored.iter().try_for_each(|(name, count)| write!(f, ", {count} {name:?} ignored"))
    }
}
