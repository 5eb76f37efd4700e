//! Open calls: the data kept for each, and their nesting in sub-agents.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
};

use foldline_domain::{CorrId, NormalizedEntry, ToolStatus};
use serde::{Deserialize, Serialize};

use super::row::{Ink, Row};

/// Open calls, and the counts of ended ones.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Calls {
    open: BTreeMap<CorrId, OpenCall>,
    begun: u64,
    ended: [u64; 6],
    /// Open calls that are not printed.
    hidden: BTreeSet<CorrId>,
}

/// The data of a call kept until it ends: only what is needed to name it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OpenCall {
    age: u64,
    /// The call whose sub-agent made this one.
    pub(super) lane: Option<CorrId>,
    /// The number of enclosing calls.
    depth: usize,
    /// A short form of its header.
    pub(super) label: String,
    /// Whether the plan or the questions of the call have been shown.
    pub(super) briefed: bool,
    /// The number of further fields of the call that were printed.
    #[serde(default)]
    pub(super) fields: usize,
    /// Whether it was reported that the call awaits permission.
    waits: bool,
}

impl Calls {
    /// Bounds the walk from call to parent call, which may be cyclic in an invalid log.
    const MAX_DEPTH: usize = 32;

    pub(super) fn begin(
        &mut self,
        id: &CorrId,
        lane: Option<CorrId>,
        label: String,
        briefed: bool,
        fields: usize,
    ) {
        let call = OpenCall {
            age: self.begun,
            depth: self.depth(lane.as_ref()),
            lane,
            label,
            briefed,
            fields,
            waits: false,
        };
        self.begun += 1;
        self.hidden.remove(id);
        self.open.insert(id.clone(), call);
    }

    /// Begins a call that is not printed.
    pub(super) fn hide(&mut self, id: &CorrId) {
        self.hidden.insert(id.clone());
    }

    /// Ends a call that is not printed.
    pub(super) fn end_hidden(&mut self, id: &CorrId, status: &ToolStatus) {
        self.hidden.remove(id);
        self.count(status);
    }

    /// Ends the calls that are not printed and have no end.
    pub(super) fn end_all_hidden(&mut self) {
        mem::take(&mut self.hidden).iter().for_each(|_| self.count(&ToolStatus::Unfinished));
    }

    pub(super) fn get(&self, id: &CorrId) -> Option<&OpenCall> {
        self.open.get(id)
    }

    /// Marks an open call as awaiting permission; returns whether that is new.
    pub(super) fn begins_to_wait(&mut self, id: &CorrId) -> bool {
        self.open.get_mut(id).is_some_and(|call| !mem::replace(&mut call.waits, true))
    }

    pub(super) fn end(&mut self, id: &CorrId, status: &ToolStatus) {
        self.open.remove(id);
        self.count(status);
    }

    /// The ids of all open calls, oldest first.
    pub(super) fn open(&self) -> Vec<CorrId> {
        let mut calls: Vec<_> = self.open.iter().collect();
        calls.sort_by_key(|(_, call)| call.age);
        calls.into_iter().map(|(id, _)| id.clone()).collect()
    }

    /// The number of calls that enclose the work of `lane`.
    pub(super) fn depth(&self, lane: Option<&CorrId>) -> usize {
        lane.map_or(0, |id| self.open.get(id).map_or(1, |call| call.depth + 1))
    }

    /// Whether the work of `lane` is part of the work of `outer`.
    pub(super) fn is_within(&self, lane: Option<&CorrId>, outer: &CorrId) -> bool {
        let next = |id: &&CorrId| self.open.get(*id)?.lane.as_ref();
        std::iter::successors(lane, next).take(Self::MAX_DEPTH).any(|id| id == outer)
    }

    /// The short name of a call, and its own lane.
    pub(super) fn name(&self, id: &CorrId) -> (String, Option<CorrId>) {
        match self.open.get(id) {
            Some(call) => (call.label.clone(), call.lane.clone()),
            None => (format!("sub-agent {id}"), None),
        }
    }

    /// Counts an ended call.
    pub(super) fn count(&mut self, status: &ToolStatus) {
        if let Some(kind) = ENDS.iter().position(|(end, _, _)| *end == status.name())
            && let Some(count) = self.ended.get_mut(kind)
        {
            *count += 1;
        }
    }

    /// The counts of ended calls, for the footer.
    pub(super) fn totals(&self) -> Row {
        let counted = self.ended.iter().zip(ENDS).filter(|(count, _)| **count > 0);
        counted.fold(Row::default(), |row, (count, (_, word, ink))| {
            row.item(ink, format!("{count} {word}"))
        })
    }
}

const ENDS: [(&str, &str, Ink); 6] = [
    ("success", "ok", Ink::Good),
    ("failed", "failed", Ink::Bad),
    ("denied", "denied", Ink::Caution),
    ("cancelled", "cancelled", Ink::Caution),
    ("unfinished", "unfinished", Ink::Caution),
    ("unknown", "not stated", Ink::Quiet),
];

/// The call whose sub-agent produced an entry.
pub(super) fn lane(entry: &NormalizedEntry) -> Option<CorrId> {
    entry.metadata.as_ref()?.parent_corr_id.clone()
}
