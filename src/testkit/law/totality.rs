//! Law 6.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
};

use super::{Law, Place, Violation, panicked};
use crate::{
    conversation::{DomainEvent, Located, WarningKind, locating},
    executors::wire::Record,
    processor::{Line, LineFramer, Processor, read_records},
    transduce::{Batch, Reducer, Transducer, emit_fn},
};

/// Law 6, **totality**: no log panics, and every line that is not blank is accounted for. Either it
/// gives at least one event, or all its records are such that `is_known` says: the executor knows
/// this record, and has a reason to say nothing (a result that is held, a thought that is printed
/// twice).
///
/// [`knows`] is such an `is_known` for formats whose records have a `type`.
///
/// # Errors
/// The line that panics, or that leaves no trace.
pub fn totality<R, S>(
    reducer: &R,
    log: &[u8],
    is_known: impl Fn(&Record<'_>) -> bool,
) -> Result<(), Violation>
where
    R: for<'a> Reducer<Record<'a>, S, DomainEvent>,
{
    let traced = lines_with_events(reducer, log)?;
    let mut lost = None;
    let mut each = |frame: Line<'_>| {
        let line = frame.position.line;
        if lost.is_some() || traced.contains(&line) || is_blank(frame.bytes) {
            return;
        }
        let (mut records, mut known) = (0, 0);
        read_records(frame, |record| {
            records += 1;
            known += usize::from(is_known(&record.item));
        });
        if known < records.max(1) {
            lost = Some((line, String::from_utf8_lossy(frame.bytes).into_owned()));
        }
    };
    let mut framer = LineFramer::default();
    framer.push(log, &mut each);
    framer.finish(&mut each);
    let Some((line, text)) = lost else { return Ok(()) };
    let message = "the line gives no event, and not because its records are known to give none";
    Err(Violation::new(Law::Totality, Place::Line(line), message).text("line", text))
}

/// Nothing but spaces, as Unicode has them: records are read from lines without these.
fn is_blank(line: &[u8]) -> bool {
    String::from_utf8_lossy(line).trim().is_empty()
}

/// Whether an executor knows a record: an object with a `type` that it does not report as unknown,
/// when it does report a type that is made up.
pub fn knows<R, S>(reducer: &R, record: &Record<'_>) -> bool
where
    R: for<'a> Reducer<Record<'a>, S, DomainEvent>,
{
    let is_unknown = |record: Record<'_>| {
        let (_, events) = reducer.reduce(reducer.init(), record);
        events.iter().any(|event| match event {
            DomainEvent::Warning(warning) => matches!(
                warning.kind,
                WarningKind::UnknownEvent
                    | WarningKind::UnexpectedValue
                    | WarningKind::ForeignRecord
            ),
            _ => false,
        })
    };
    let mut reports_unknown = false;
    Record::read(r#"{"type":"made up for a law"}"#, |_, made_up| {
        reports_unknown = is_unknown(made_up);
    });
    let typed = matches!(record, Record::Object(object) if object.get_str("type").is_some());
    typed && reports_unknown && !is_unknown(record.clone())
}

/// The lines that gave events; a panic is a violation.
fn lines_with_events<R, S>(reducer: &R, log: &[u8]) -> Result<BTreeSet<u64>, Violation>
where
    R: for<'a> Reducer<Record<'a>, S, DomainEvent>,
{
    let lines = emit_fn(|event: &Located<DomainEvent>| Batch::one(event.position.line));
    let mut processor = Processor::new(Transducer::new(locating(reducer), lines));
    let mut traced = BTreeSet::new();
    for line in log.split_inclusive(|byte| *byte == b'\n') {
        let at = processor.position().line;
        // Nothing is looked at after a panic, so nothing half-changed is seen.
        let push = AssertUnwindSafe(|| processor.push(line, |line| traced.extend([line])));
        if let Err(panic) = catch_unwind(push) {
            let text = String::from_utf8_lossy(line);
            return Err(panicked(Law::Totality, Place::Line(at), &*panic).text("line", text));
        }
    }
    // The last line, and lines that wait for more of an object; what completion releases after them
    // accounts for no line.
    let at = processor.position().line;
    let lines_end = AssertUnwindSafe(|| processor.next_file(|line| traced.extend([line])));
    catch_unwind(lines_end).map_err(|panic| panicked(Law::Totality, Place::Line(at), &*panic))?;
    let finish = AssertUnwindSafe(|| processor.finish(|_line| {}));
    catch_unwind(finish)
        .map(|_read| traced)
        .map_err(|panic| panicked(Law::Totality, Place::Completion, &*panic))
}
