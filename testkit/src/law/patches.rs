//! Laws 7 and 9: the patches of an emitter.

use std::collections::BTreeSet;

use foldline::{laws::caught, transduce::Emitter};
use foldline_domain::{Conversation, CorrId, DomainEvent};
use json_patch::PatchOperation;
use serde_json::{Value, json};

use super::{Law, Place, Violation};

/// The number of positions in a long log at which the whole documents are compared.
const BOUNDARIES: usize = 128;

/// Law 7, **commuting diagram**: the patches of `emitter`, applied with the `json-patch` crate to `{"entries":[]}`,
/// give the same document as folding the events directly into a [`Conversation`].
///
/// It holds at the end, and after every event (after at most 128 of them, evenly spread, in a long log); while an
/// entry grows, its text in the patched document may lag behind, and be a prefix. The entry of a tool call carries
/// the call's id as `metadata.corrId`, so that a late result can be assigned in a stored document.
///
/// # Errors
/// The first event after which the documents differ, or a patch that cannot be applied.
pub fn commuting_diagram<M, Out>(mut emitter: M, events: &[DomainEvent]) -> Result<(), Violation>
where
    M: Emitter<DomainEvent, Out>,
    Out: Into<json_patch::Patch>,
{
    caught(Law::CommutingDiagram, Place::Unknown, || {
        let mut conversation = Conversation::default();
        let mut document = json!({ "entries": [] });
        let mut growing = BTreeSet::new();
        let stride = events.len().div_ceil(BOUNDARIES).max(1);
        for (index, event) in events.iter().enumerate() {
            let place = Place::Event(index);
            conversation.apply(event);
            follow(&mut growing, event);
            for patch in emitter.emit(event) {
                apply(&mut document, patch, place)?;
            }
            if let DomainEvent::NewToolCall { corr_id, .. } = event
                && !has_call(&document, corr_id)
            {
                let message = format!("no entry has the `corrId` of the new call {corr_id}");
                return Err(Violation::new(Law::CommutingDiagram, place, message));
            }
            if index.is_multiple_of(stride) {
                compare(&document, &conversation, !growing.is_empty(), place)?;
            }
        }
        for patch in emitter.finish() {
            apply(&mut document, patch, Place::Completion)?;
        }
        compare(&document, &conversation, false, Place::Completion)
    })
}

/// Whether an entry carries this correlation id; a new entry is found immediately.
fn has_call(document: &Value, corr_id: &CorrId) -> bool {
    let entries = document["entries"].as_array().into_iter().flatten().rev();
    entries.map(|slot| &slot["content"]["metadata"]["corrId"]).any(|id| id == corr_id.as_str())
}

fn follow<'e>(growing: &mut BTreeSet<&'e CorrId>, event: &'e DomainEvent) {
    match event {
        DomainEvent::OpenEntry { corr_id, .. } => drop(growing.insert(corr_id)),
        DomainEvent::CloseEntry { corr_id, .. } => drop(growing.remove(corr_id)),
        _ => {}
    }
}

fn apply<Out: Into<json_patch::Patch>>(
    document: &mut Value,
    patch: Out,
    place: Place,
) -> Result<(), Violation> {
    let patch = patch.into();
    json_patch::patch(document, &patch).map_err(|error| {
        let message = format!("the patch cannot be applied: {error}");
        Violation::new(Law::CommutingDiagram, place, message).side("patch", &patch)
    })
}

fn compare(
    patched: &Value,
    conversation: &Conversation,
    may_lag: bool,
    place: Place,
) -> Result<(), Violation> {
    let folded = serde_json::to_value(conversation).map_err(|error| {
        let message = format!("the conversation has no document: {error}");
        Violation::new(Law::CommutingDiagram, place, message)
    })?;
    let differs = |patched: &Value, folded: &Value| match may_lag {
        true => *patched != *folded && !lags(patched, folded),
        false => patched != folded,
    };
    let length = |document: &Value| document["entries"].as_array().map_or(0, Vec::len);
    for index in 0..length(patched).max(length(&folded)) {
        let (patched, folded) = (&patched["entries"][index], &folded["entries"][index]);
        if differs(patched, folded) {
            return Err(differ(place, format!("entry {index} differs"), patched, folded));
        }
    }
    if besides(patched).eq(besides(&folded)) {
        return Ok(());
    }
    let [patched, folded] = [patched, &folded].map(|document| besides(document).collect());
    Err(differ(place, "the fields other than the entries differ".to_owned(), &patched, &folded))
}

/// The fields other than the entries. The state that a conversation needs to continue (`open`) is not part of the
/// document that patches build.
fn besides(document: &Value) -> impl Iterator<Item = (String, Value)> {
    let fields = document
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| !matches!(name.as_str(), "entries" | "open"));
    fields.map(|(name, value)| (name.clone(), value.clone()))
}

fn differ(place: Place, message: String, patched: &Value, folded: &Value) -> Violation {
    let violation = Violation::new(Law::CommutingDiagram, place, message);
    violation.text("patched", format!("{patched:#}")).text("folded", format!("{folded:#}"))
}

/// Whether the text of a patched entry is only a prefix of the folded one's.
fn lags(patched: &Value, folded: &Value) -> bool {
    let text = |slot: &Value| slot["content"]["content"].as_str().unwrap_or_default().to_owned();
    let mut caught_up = patched.clone();
    caught_up["content"]["content"] = folded["content"]["content"].clone();
    caught_up == *folded && text(folded).starts_with(&text(patched))
}

/// Law 9, **dense indices**: the patches of `emitter` add entries at 0, 1, 2, ..., without repetition or gap; they
/// replace only entries that were added, and remove none.
///
/// # Errors
/// The first patch that violates this.
pub fn dense_indices<M, Out>(mut emitter: M, events: &[DomainEvent]) -> Result<(), Violation>
where
    M: Emitter<DomainEvent, Out>,
    Out: Into<json_patch::Patch>,
{
    caught(Law::DenseIndices, Place::Unknown, || {
        let mut entries = 0;
        for (index, event) in events.iter().enumerate() {
            for patch in emitter.emit(event) {
                check(&mut entries, &patch.into(), Place::Event(index))?;
            }
        }
        for patch in emitter.finish() {
            check(&mut entries, &patch.into(), Place::Completion)?;
        }
        Ok(())
    })
}

fn check(entries: &mut usize, patch: &json_patch::Patch, place: Place) -> Result<(), Violation> {
    for operation in &patch.0 {
        if let Err(message) = check_operation(entries, operation) {
            let violation = Violation::new(Law::DenseIndices, place, message);
            return Err(violation.side("operation", operation));
        }
    }
    Ok(())
}

fn check_operation(entries: &mut usize, operation: &PatchOperation) -> Result<(), String> {
    let Some(index) = operation.path().as_str().strip_prefix("/entries") else {
        return Ok(());
    };
    let index: usize = index
        .strip_prefix('/')
        .and_then(|index| index.parse().ok())
        .ok_or("the path names no entry by its index")?;
    match operation {
        PatchOperation::Add(_) if index == *entries => {
            *entries += 1;
            Ok(())
        }
        PatchOperation::Add(_) => Err(format!("entry {index} is added, expected {entries}")),
        PatchOperation::Replace(_) if index < *entries => Ok(()),
        PatchOperation::Replace(_) => Err(format!("entry {index} is replaced, but does not exist")),
        _ => Err("entries may only be added and replaced".to_owned()),
    }
}
