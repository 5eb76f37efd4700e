//! [`Opening`]: the beginning of a file of a log, which is held until the checkpoint names that file.

/// Nothing of a file is sent before the checkpoint names the file, by its number and its beginning. A restarted shipper
/// therefore gives the same number to the same file, even if the log was copied and truncated several times in the
/// meantime. Under another number, workers would take its bytes for known ones, and drop them.
#[derive(Debug, Default)]
pub(super) struct Opening {
    /// The number of the last file that the checkpoint names.
    named: Option<u64>,
    /// The first bytes of the next one, which are not sent yet.
    held: Vec<u8>,
}

impl Opening {
    /// The beginning of a log whose checkpoint names this file.
    pub(super) fn named(file: u64) -> Self {
        Self { named: Some(file), held: Vec::new() }
    }

    /// Whether this file may be sent.
    pub(super) fn is_named(&self, file: u64) -> bool {
        self.named == Some(file)
    }

    /// Whether bytes are held.
    pub(super) fn is_held(&self) -> bool {
        !self.held.is_empty()
    }

    /// Holds the first bytes of a file.
    pub(super) fn hold(&mut self, bytes: &[u8]) {
        self.held = bytes.to_vec();
    }

    /// Records that the stored checkpoint names this file.
    pub(super) fn name(&mut self, file: u64) {
        self.named = Some(file);
    }

    /// The held bytes of this file, once it may be sent.
    pub(super) fn take(&mut self, file: u64) -> Option<Vec<u8>> {
        (self.is_held() && self.is_named(file)).then(|| std::mem::take(&mut self.held))
    }
}
