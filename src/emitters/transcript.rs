//! A transcript for people, in a terminal.

use crate::{
    conversation::DomainEvent,
    transduce::{Batch, Emitter},
};

/// How a transcript looks.
#[derive(Clone, Copy, Debug)]
pub struct TranscriptStyle {
    /// With ANSI colours.
    pub color: bool,
    /// Columns.
    pub width: usize,
}

/// Writes a conversation for people.
#[derive(Clone, Debug)]
pub struct Transcript {
    style: TranscriptStyle,
}

impl Transcript {
    /// A transcript from the beginning of a conversation.
    pub fn new(style: TranscriptStyle) -> Self {
        Self { style }
    }
}

impl Emitter<DomainEvent, String> for Transcript {
    fn emit(&mut self, event: &DomainEvent) -> Batch<String> {
        let _ = self.style;
        Batch::one(format!("{event:?}"))
    }
}
