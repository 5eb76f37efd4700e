//! [`CorrIdResolver`]: indices of known calls.

use std::sync::Arc;

use crate::conversation::{CorrId, EntryIdx};

/// Finds the entry with a correlation id in a stored conversation.
///
/// Every tool call's entry carries its id as `metadata.corrId`, so that any store of entries can implement this
/// trait. After a restart, the emitter uses it instead of its own map.
pub trait CorrIdResolver {
    /// The index of the tool call's entry with this id.
    fn resolve_corr_id(&self, corr_id: &CorrId) -> Option<EntryIdx>;
}

impl<C: CorrIdResolver + ?Sized> CorrIdResolver for &C {
    fn resolve_corr_id(&self, corr_id: &CorrId) -> Option<EntryIdx> {
        (**self).resolve_corr_id(corr_id)
    }
}

impl<C: CorrIdResolver + ?Sized> CorrIdResolver for Arc<C> {
    fn resolve_corr_id(&self, corr_id: &CorrId) -> Option<EntryIdx> {
        (**self).resolve_corr_id(corr_id)
    }
}

/// Resolves nothing: for a new conversation.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoResolver;

impl CorrIdResolver for NoResolver {
    fn resolve_corr_id(&self, _: &CorrId) -> Option<EntryIdx> {
        None
    }
}
