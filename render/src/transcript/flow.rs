//! [`Flow`]: the end of the transcript, and the transition to the next block.

use foldline_domain::CorrId;
use serde::{Deserialize, Serialize};

use super::{
    calls::Calls,
    page::Page,
    row::{Ink, Row},
    wrap::clip,
};

/// The end of the transcript.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Flow {
    last: Option<Block>,
}

/// The last block that was printed.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Block {
    /// The call whose sub-agent produced it.
    lane: Option<CorrId>,
    depth: usize,
    spacing: Spacing,
    /// The call whose header it is.
    call: Option<CorrId>,
}

/// The spacing around a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Spacing {
    /// Between blank lines.
    Loose,
    /// A row or two, without a blank line between blocks of this kind.
    Tight,
}

impl Flow {
    /// Whether anything was printed.
    pub(super) fn has_begun(&self) -> bool {
        self.last.is_some()
    }

    /// The call of the last sub-agent that printed a block.
    pub(super) fn lane(&self) -> Option<&CorrId> {
        self.last.as_ref()?.lane.as_ref()
    }

    /// The nesting depth of a call's header, if it is the last block.
    pub(super) fn depth_of_header(&self, call: &CorrId) -> Option<usize> {
        self.last.as_ref().filter(|last| last.call.as_ref() == Some(call)).map(|last| last.depth)
    }

    /// Begins a block of the work of `lane`; `ends` is the call whose end the block reports.
    pub(super) fn enter(
        &mut self,
        page: &mut Page,
        calls: &Calls,
        lane: Option<CorrId>,
        spacing: Spacing,
        ends: Option<&CorrId>,
    ) {
        if let Some(outer) = &lane
            && !self.is_at(calls, outer)
        {
            // Another agent printed the last block: the owner of this work must be repeated.
            let (label, lane) = calls.name(outer);
            self.step(page, calls, lane, Spacing::Tight, None);
            refer(page, &label, Row::default());
            self.end(Spacing::Tight, Some(outer));
        }
        self.step(page, calls, lane, spacing, ends);
    }

    /// Updates the properties of the last block.
    pub(super) fn end(&mut self, spacing: Spacing, call: Option<&CorrId>) {
        if let Some(last) = &mut self.last {
            last.spacing = spacing;
            last.call = call.cloned();
        }
    }

    fn step(
        &mut self,
        page: &mut Page,
        calls: &Calls,
        lane: Option<CorrId>,
        spacing: Spacing,
        ends: Option<&CorrId>,
    ) {
        let depth = calls.depth(lane.as_ref());
        if let Some(last) = &self.last {
            let enters = lane.is_some() && last.call == lane;
            let leaves = ends.is_some_and(|id| calls.is_within(last.lane.as_ref(), id));
            let both = [spacing, last.spacing] == [Spacing::Tight; 2];
            let tight = both && lane == last.lane;
            if !(enters || leaves || tight) {
                page.set_depth(depth.min(last.depth));
                page.blank();
            }
        }
        page.set_depth(depth);
        self.last = Some(Block { lane, depth, spacing, call: None });
    }

    /// Whether the transcript ends with the header of a call or with the work of its sub-agent.
    fn is_at(&self, calls: &Calls, call: &CorrId) -> bool {
        self.last.as_ref().is_some_and(|last| {
            last.call.as_ref() == Some(call) || calls.is_within(last.lane.as_ref(), call)
        })
    }
}

/// Prints a short reference to a call that was printed earlier, optionally with its status.
pub(super) fn refer(page: &mut Page, label: &str, status: Row) {
    let mark = Row::mark(Ink::Quiet, "↳ ");
    if status.width() == 0 {
        return page.row(mark.then(Ink::Quiet, label));
    }
    let room = page.width().saturating_sub(mark.width() + status.width() + 3);
    let label = clip(label, room.max(12)).into_owned();
    page.row(mark.then(Ink::Plain, label).then_mark(Ink::Quiet, " · ").join(status));
}
