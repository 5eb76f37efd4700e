//! Replaces secrets, home directories and addresses before another emitter sees them. Best effort.
//!
//! [`Redact`] wraps any emitter. Every string of an event is searched, in any field: for tokens of well-known shapes,
//! private keys, values whose names or commands say that they are secret (`API_KEY=..`, `--password ..`, `mysql -p..`),
//! credentials in URLs, cookies, e-mail addresses, and long strings that look random. The same secret has the same mark
//! everywhere (`[github-token 1]`), and a home directory becomes `~`.
//!
//! The shapes are those of this module and the rules of gitleaks (`data/gitleaks.tsv`).
//!
//! [`Masker`] masks the same secrets in raw lines of a log, byte by byte.
//!
//! Both search a text as it is, without escapes such as `\n`, without colours of a terminal, with broken lines joined,
//! and decoded from base64; JSON in strings is searched string by string. The time is linear in the length.
//! Placeholders, variables, hashes and ids stay.
//!
//! Pictures are left out, because they are not searched.
//!
//! A secret of an unknown shape, or a short one that looks like a word, is not found. Review the output before you
//! share it.
//!
//! ```
//! use foldline::transduce::{Batch, Emitter, emit_fn};
//! use foldline_domain::{DomainEvent, NormalizedEntry, NormalizedEntryType::UserMessage};
//! use foldline_render::redact::Redact;
//!
//! let shown = emit_fn(|event: &DomainEvent| match event {
//!     DomainEvent::NewEntry { entry } => Batch::one(entry.content.decode().into_owned()),
//!     _ => Batch::EMPTY,
//! });
//! let mut redact = Redact::new(shown);
//! let entry = NormalizedEntry::new(UserMessage, "ask ada@example.org, see /home/ada/notes");
//! let shown = redact.emit(&DomainEvent::entry(entry));
//! assert_eq!(shown.as_slice(), ["ask [email 1], see ~/notes"]);
//! assert_eq!(redact.replaced().collect::<Vec<_>>(), [("email", 1), ("home-folder", 1)]);
//! ```

mod find;
mod harmless;
mod lines;
mod mask;
mod names;
mod rules;
mod tally;
mod units;
mod view;

use std::{collections::BTreeMap, sync::Arc};

use foldline::transduce::{Batch, Emitter};
use foldline_domain::{
    CorrId, DomainEvent, NormalizedEntry, NormalizedEntryType, Text, WarningKind,
};
use serde::{Serialize, de::DeserializeOwned};

use self::{mask::Marks, rules::Rules, tally::Tally};
pub use self::{mask::Masker, tally::Redaction};

/// Replaces secrets in every event for another emitter. See the [module](self).
///
/// Growing text is held until the entry is closed: a secret may arrive in two parts.
#[derive(Clone, Debug)]
pub struct Redact<M> {
    emitter: M,
    marks: Marks,
    tally: Tally,
    growing: BTreeMap<CorrId, Arc<NormalizedEntry>>,
}

impl<M> Redact<M> {
    /// Replaces secrets for `emitter`.
    pub fn new(emitter: M) -> Self {
        let (marks, tally) = (Marks::default(), Tally::default());
        Self { emitter, marks, tally, growing: BTreeMap::new() }
    }

    /// Keeps up to that many [`Redaction`]s, without the secrets. By default, none is kept.
    #[must_use]
    pub fn keeping(mut self, most: usize) -> Self {
        self.tally.keep(most);
        self
    }

    /// The number of replacements of each kind, sorted by kind. An entry that was replaced by a later event counts once.
    pub fn replaced(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.tally.counts()
    }

    /// The kept replacements, in the order of their entries: first those outside entries.
    pub fn replacements(&self) -> impl Iterator<Item = &Redaction> {
        self.tally.kept()
    }

    /// The inner emitter.
    pub fn get_ref(&self) -> &M {
        &self.emitter
    }

    /// The inner emitter, mutable.
    pub fn get_mut(&mut self) -> &mut M {
        &mut self.emitter
    }

    /// Returns the inner emitter.
    pub fn into_inner(self) -> M {
        self.emitter
    }

    /// The redacted event, if it is passed on now.
    fn redacted(&mut self, event: &DomainEvent) -> Option<DomainEvent> {
        Some(match event {
            DomainEvent::Session(session) => {
                DomainEvent::Session(Box::new(self.value(&**session).unwrap_or_default()))
            }
            DomainEvent::NewEntry { entry } => DomainEvent::NewEntry { entry: self.entry(entry) },
            DomainEvent::OpenEntry { corr_id, entry } => {
                self.growing.insert(corr_id.clone(), Arc::clone(entry));
                let mut begun = (**entry).clone();
                begun.content = Text::default();
                DomainEvent::OpenEntry { corr_id: self.id(corr_id), entry: self.entry(&begun) }
            }
            DomainEvent::GrowEntry { corr_id, text } => match self.growing.get_mut(corr_id) {
                Some(entry) => {
                    Arc::make_mut(entry).content.push(text);
                    return None;
                }
                None => DomainEvent::GrowEntry { corr_id: self.id(corr_id), text: self.text(text) },
            },
            DomainEvent::CloseEntry { corr_id, entry } => {
                let grown = self.growing.remove(corr_id);
                let entry = entry.as_ref().or(grown.as_ref()).map(|entry| self.entry(entry));
                DomainEvent::CloseEntry { corr_id: self.id(corr_id), entry }
            }
            DomainEvent::NewToolCall { corr_id, entry } => {
                DomainEvent::NewToolCall { corr_id: self.id(corr_id), entry: self.entry(entry) }
            }
            DomainEvent::UpdateToolCall { corr_id, entry } => {
                DomainEvent::UpdateToolCall { corr_id: self.id(corr_id), entry: self.entry(entry) }
            }
            DomainEvent::Usage { usage, model, message_id, timestamp } => DomainEvent::Usage {
                usage: usage.clone(),
                model: model.as_ref().map(|model| self.text(model)),
                message_id: message_id
                    .as_ref()
                    .map(|id| self.id(&CorrId::from(id.decode())).as_str().into()),
                timestamp: *timestamp,
            },
            DomainEvent::Warning(warning) => {
                let unreadable = || foldline_domain::Warning::new(warning.kind, UNREADABLE);
                DomainEvent::Warning(Box::new(self.value(&**warning).unwrap_or_else(unreadable)))
            }
            DomainEvent::SessionEnded => DomainEvent::SessionEnded,
        })
    }

    fn entry(&mut self, entry: &NormalizedEntry) -> Arc<NormalizedEntry> {
        let kind = NormalizedEntryType::Diagnostic { code: WarningKind::UnexpectedValue };
        let unreadable = || NormalizedEntry::new(kind, UNREADABLE).at(entry.timestamp);
        let images = entry.metadata.as_ref().map_or(&[][..], |metadata| &metadata.images);
        if images.is_empty() {
            return Arc::new(self.value(entry).unwrap_or_else(unreadable));
        }
        // A picture can show anything. Its placeholder stays, at another place if something before it is replaced.
        let kept = images.iter().filter(|image| image.data.is_some());
        kept.for_each(|_| self.tally.leave_out(PICTURE));
        let mut entry = entry.clone();
        entry.metadata_mut().images.clear();
        Arc::new(self.value(&entry).unwrap_or_else(unreadable))
    }

    fn id(&mut self, id: &CorrId) -> CorrId {
        self.replace(id.as_str(), true, false).map_or_else(|| id.clone(), CorrId::from)
    }

    fn text(&mut self, text: &Text) -> Text {
        self.replace(&text.decode(), false, true).map_or_else(|| text.clone(), Text::from)
    }

    /// A value with redacted strings in all fields. It is converted through its JSON text, so that no field can be
    /// forgotten.
    fn value<T: Serialize + DeserializeOwned>(&mut self, value: &T) -> Option<T> {
        let json = foldline_json::to_string(value).ok()?;
        let redacted = self.replace(&json, false, true);
        serde_json::from_str(redacted.as_ref().unwrap_or(&json)).ok()
    }

    /// The text with marks; `None` if it has no secrets. Ids of events are repeated in entries, and do not count.
    fn replace(&mut self, text: &str, is_id: bool, is_counted: bool) -> Option<String> {
        let Self { marks, tally, .. } = self;
        marks.replace(text, is_id, |secret| {
            if is_counted {
                tally.add(secret);
            }
        })
    }
}

/// A kind of secret in words: `home directory` for `home-folder`.
pub fn in_words(kind: &str) -> &'static str {
    if kind == PICTURE { PICTURE } else { Rules::get().words(kind) }
}

/// The kind of a picture that was left out.
const PICTURE: &str = "picture";

/// Replaces content that could not be searched.
const UNREADABLE: &str = "left out: it could not be searched for secrets";

impl<M: Emitter<DomainEvent, Out>, Out> Emitter<DomainEvent, Out> for Redact<M> {
    fn emit(&mut self, event: &DomainEvent) -> Batch<Out> {
        let redacted = self.redacted(event);
        self.tally.end(event);
        match redacted {
            Some(event) => self.emitter.emit(&event),
            None => Batch::EMPTY,
        }
    }

    fn finish(&mut self) -> Batch<Out> {
        let mut all = Batch::EMPTY;
        for (corr_id, entry) in std::mem::take(&mut self.growing) {
            let entry = Some(self.entry(&entry));
            self.tally.end(&DomainEvent::CloseEntry { corr_id: corr_id.clone(), entry: None });
            let event = DomainEvent::CloseEntry { corr_id: self.id(&corr_id), entry };
            all.append(self.emitter.emit(&event));
        }
        all.append(self.emitter.finish());
        all
    }
}
