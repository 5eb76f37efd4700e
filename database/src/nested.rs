//! Reads a stored session with its parts: what a sub-agent did is nested in the call that started it.

use std::{collections::BTreeMap, sync::Arc};

use foldline_domain::{CorrId, DomainEvent};

use super::{SessionEvents, Store, StoreError, query::SessionRow};

/// The parts of sessions, by the session that they belong to and the index of the call that started them.
type Parts = BTreeMap<i64, BTreeMap<i64, Vec<SessionRow>>>;

/// The index of the call of a part that no call names.
const NO_CALL: i64 = i64::MAX;

impl dyn Store + '_ {
    /// Passes the domain events of the session with this row id, and those of its parts, to `each`.
    ///
    /// The entries of a part come after the call that started it, or else after the last entry. Their parent is that
    /// call, or else the id of their session: as if one log had both.
    ///
    /// # Errors
    /// The database cannot be read, or the session is not there.
    pub fn nested_events(
        &self,
        session: i64,
        mut each: impl FnMut(DomainEvent),
    ) -> Result<(), StoreError> {
        let mut parts = Parts::new();
        for part in self.tree_of(session)? {
            if let Some(whole) = part.whole {
                let calls = parts.entry(whole).or_default();
                calls.entry(part.call.unwrap_or(NO_CALL)).or_default().push(part);
            }
        }
        self.with_parts(session, &mut parts, &mut each)
    }

    /// Each part is taken out of the list, so that none is told twice.
    fn with_parts(
        &self,
        session: i64,
        parts: &mut Parts,
        each: &mut dyn FnMut(DomainEvent),
    ) -> Result<(), StoreError> {
        let mut events = SessionEvents::new(session);
        for (call, started) in parts.remove(&session).unwrap_or_default() {
            // The last event is held back: the end of the call comes after what the sub-agents did.
            let mut last = None;
            events.read_until(self, call.saturating_add(1), |event| {
                last.replace(event).into_iter().for_each(&mut *each);
            })?;
            let caller = match &last {
                Some(
                    DomainEvent::NewToolCall { corr_id, .. }
                    | DomainEvent::UpdateToolCall { corr_id, .. },
                ) if call != NO_CALL => Some(corr_id.clone()),
                _ => None,
            };
            let is_end = matches!(last, Some(DomainEvent::UpdateToolCall { .. }));
            let end = last.take_if(|_| is_end && caller.is_some());
            last.into_iter().for_each(&mut *each);
            for part in started {
                let own = part.session.as_deref().map(CorrId::from);
                let parent = caller.clone().or_else(|| own.clone());
                self.with_parts(part.number, parts, &mut |event| {
                    nested(event, own.as_ref(), parent.as_ref()).into_iter().for_each(&mut *each);
                })?;
            }
            end.into_iter().for_each(&mut *each);
        }
        events.read_until(self, i64::MAX, each).map(drop)
    }
}

/// An event of a part in its whole, with the parent of its entries. Facts of the part are not facts of the whole. An
/// entry of a sub-agent's own log may name the sub-agent itself as its parent.
fn nested(
    mut event: DomainEvent,
    own: Option<&CorrId>,
    parent: Option<&CorrId>,
) -> Option<DomainEvent> {
    match &mut event {
        DomainEvent::Session(_) | DomainEvent::SessionEnded => return None,
        DomainEvent::NewEntry { entry }
        | DomainEvent::NewToolCall { entry, .. }
        | DomainEvent::UpdateToolCall { entry, .. } => {
            let stated = entry.metadata.as_ref().and_then(|known| known.parent_corr_id.as_ref());
            if stated.is_none() || stated == own {
                let metadata = Arc::make_mut(entry).metadata_mut();
                metadata.parent_corr_id = parent.cloned();
            }
        }
        _ => {}
    }
    Some(event)
}
