//! Law 4.

use std::collections::BTreeMap;

use foldline_domain::{CorrId, DomainEvent};

use super::{Law, Place, Violation};

/// Law 4, **balance**: in the events of a whole log, completion included,
///
/// - a tool call is ended (updated to a final status) exactly once, it is not updated before it was created or after
///   it ended, and its entry initially is a tool call without a final status;
/// - an entry that is opened is closed exactly once, and grows only in between;
/// - no id is opened twice, neither for calls nor for entries.
///
/// # Errors
/// The first event that violates the balance, or an item that is still open at completion.
pub fn balance(events: &[DomainEvent]) -> Result<(), Violation> {
    let mut opened = BTreeMap::new();
    for (index, event) in events.iter().enumerate() {
        if let Err(message) = take(&mut opened, event) {
            let violation = Violation::new(Law::Balance, Place::Event(index), message);
            return Err(violation.side("event", event));
        }
    }
    let open: Vec<_> = opened.iter().filter(|(_, what)| !what.ended).collect();
    if open.is_empty() {
        return Ok(());
    }
    let message = "an item is still open after completion";
    Err(Violation::new(Law::Balance, Place::Completion, message).side("open", &open))
}

/// The item that was opened under an id.
#[derive(Debug)]
struct Opened {
    kind: Kind,
    ended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Call,
    Entry,
}

fn take(opened: &mut BTreeMap<CorrId, Opened>, event: &DomainEvent) -> Result<(), String> {
    match event {
        DomainEvent::NewToolCall { corr_id, entry } => {
            let tool = entry.tool().ok_or("the entry of a new tool call is not a tool call")?;
            if tool.status.is_final() {
                return Err("a new tool call already has a final status".to_owned());
            }
            open(opened, corr_id, Kind::Call)
        }
        DomainEvent::OpenEntry { corr_id, .. } => open(opened, corr_id, Kind::Entry),
        DomainEvent::UpdateToolCall { corr_id, entry } => {
            let tool =
                entry.tool().ok_or("the entry of an updated tool call is not a tool call")?;
            go_on(opened, corr_id, Kind::Call, tool.status.is_final())
        }
        DomainEvent::GrowEntry { corr_id, .. } => go_on(opened, corr_id, Kind::Entry, false),
        DomainEvent::CloseEntry { corr_id, .. } => go_on(opened, corr_id, Kind::Entry, true),
        _ => Ok(()),
    }
}

fn open(opened: &mut BTreeMap<CorrId, Opened>, id: &CorrId, kind: Kind) -> Result<(), String> {
    match opened.insert(id.clone(), Opened { kind, ended: false }) {
        None => Ok(()),
        Some(before) => Err(format!("the id {id} was opened before, as {before:?}")),
    }
}

fn go_on(
    opened: &mut BTreeMap<CorrId, Opened>,
    id: &CorrId,
    kind: Kind,
    end: bool,
) -> Result<(), String> {
    let what = opened.get_mut(id).ok_or_else(|| format!("the id {id} was never opened"))?;
    if what.kind != kind {
        return Err(format!("the id {id} was opened as something else: {:?}", what.kind));
    }
    if what.ended {
        return Err(format!("the id {id} has ended"));
    }
    what.ended = end;
    Ok(())
}
