//! [`Topic`]: the topics that a sink reads.

/// A topic that a sink reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    Events,
    Checkpoints,
}
