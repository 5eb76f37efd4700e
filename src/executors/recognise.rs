//! Stub until recognition lands.
use super::{Format, wire::Record};
/// Verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Certain.
    Certain(Format),
    /// Undecided.
    Undecided,
}
/// Recogniser.
#[derive(Debug, Default)]
pub struct Recogniser(u8);
impl Recogniser {
    /// Observe.
    pub fn observe(&mut self, _record: &Record<'_>) {}
    /// Verdict.
    pub fn verdict(&self) -> Verdict {
        Verdict::Certain(Format::Droid)
    }
}
