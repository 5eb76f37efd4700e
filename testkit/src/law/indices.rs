//! Law 9.

use foldline::transduce::Emitter;
use foldline_domain::DomainEvent;
use json_patch::PatchOperation;

use super::{Law, Place, Violation};
use crate::violation::caught;

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
