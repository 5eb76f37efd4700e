//! Entries that appear in chunks.

use foldline_domain::{CorrId, Metadata, NormalizedEntry, tool_calls::CallResult};
use serde::{Deserialize, Serialize};

use crate::context::Context;

/// The entry that is growing, if any.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Growing {
    open: Option<Open>,
    /// Leading white space, which begins an entry only if text follows.
    blank: Option<NormalizedEntry>,
    /// The number of entries so far.
    count: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Open {
    corr_id: CorrId,
    /// The entry so far.
    entry: NormalizedEntry,
}

impl Growing {
    /// Appends a chunk to the open entry. A chunk of another kind or message, or with a picture, begins a new entry.
    pub fn grow<R: CallResult>(&mut self, mut piece: NormalizedEntry, cx: &mut Context<'_, R>) {
        let images = piece.metadata.as_ref().map_or(0, |metadata| metadata.images.len());
        if let Some(Open { corr_id, entry }) = &mut self.open
            && images == 0
            && are_of_one_message(entry, &piece)
        {
            entry.content.push(&piece.content);
            return cx.grow(corr_id.clone(), piece.content);
        }
        if images == 0
            && let Some(mut blank) = self.blank.take_if(|blank| are_of_one_message(blank, &piece))
        {
            blank.content.push(&piece.content);
            piece = blank;
        }
        if piece.content.decode().trim().is_empty() {
            self.blank = Some(piece).filter(|piece| !piece.content.is_empty());
            return;
        }
        self.close(cx);
        let corr_id = CorrId::from(format!("piecewise-{}", self.count));
        self.count += 1;
        let mut entry = piece.clone();
        // Pictures are large, and do not tell messages apart.
        entry.metadata.iter_mut().for_each(|metadata| metadata.images.clear());
        self.open = Some(Open { corr_id: corr_id.clone(), entry });
        cx.open(corr_id, piece);
    }

    /// Emits a whole entry, possibly after its chunks.
    pub fn say<R: CallResult>(&mut self, whole: NormalizedEntry, cx: &mut Context<'_, R>) {
        let told = self.open.take_if(|open| is_repeated(&open.entry, &whole));
        match told {
            Some(Open { corr_id, .. }) => {
                self.blank = None;
                cx.close(corr_id, Some(whole));
            }
            None => {
                self.close(cx);
                cx.push(whole);
            }
        }
    }

    /// Closes the open entry.
    pub fn close<R: CallResult>(&mut self, cx: &mut Context<'_, R>) {
        self.blank = None;
        if let Some(Open { corr_id, .. }) = self.open.take() {
            cx.close(corr_id, None);
        }
    }
}

fn are_of_one_message(one: &NormalizedEntry, other: &NormalizedEntry) -> bool {
    let message = |entry: &NormalizedEntry| {
        let of =
            |metadata: &Metadata| (metadata.message_id.clone(), metadata.parent_corr_id.clone());
        entry.metadata.as_deref().map(of).unwrap_or_default()
    };
    one.entry_type == other.entry_type && message(one) == message(other)
}

/// Whether a whole entry begins with its chunks, which need not name the message.
fn is_repeated(pieces: &NormalizedEntry, whole: &NormalizedEntry) -> bool {
    pieces.entry_type == whole.entry_type
        && whole.content.decode().starts_with(&*pieces.content.decode())
}
