//! Law 29: what an executor says is in the log.

use std::collections::{BTreeMap, BTreeSet};

use foldline::laws::caught;
use foldline_agents::DynExecutor;
use foldline_domain::DomainEvent;

use super::{
    Law, Outcome, Place, Violation,
    texts::{joined, strings, texts, without_numbers},
};
use crate::run::Fold;

/// The minimum length of a text of a log by which a longer one is recognised.
const PART: usize = 3;

/// The law of invention: the text of every entry is a text of the log, contains one, or is in parts in fields of one
/// name; a log without records gives no entry and no usage, and a log whose every number is 0 no usage but zero.
/// `phrases` are texts that the executor adds, alone or before a text of the log. (A diagnostic has the text of a record
/// in another spelling.)
///
/// # Errors
/// The entries whose texts, or the usage whose numbers, are not in the log.
pub fn invention(
    executor: &DynExecutor,
    log: &[u8],
    phrases: &[&str],
) -> Result<Outcome, Violation> {
    caught(Law::Invention, Place::Unknown, || {
        let nothing = Fold::of(executor, b"");
        let mut said = nothing.sessions.values();
        if said.any(|session| !session.entries().is_empty() || !session.usage.is_empty()) {
            let message = "a log without records gives an entry, or usage";
            let violation = Violation::new(Law::Invention, Place::Completion, message);
            return Err(violation.side("fold", &nothing));
        }
        let log_text = String::from_utf8_lossy(log);
        let records = texts(log);
        // The parts of a streamed text, and the arguments of a command.
        let mut streams = BTreeMap::<(String, &str), String>::new();
        let mut stated = BTreeSet::new();
        for (name, text) in records.iter().flat_map(|(_, text)| strings(text)) {
            for between in ["", " "] {
                let stream = streams.entry((name.clone(), between)).or_default();
                stream.extend([&text, between]);
            }
            stated.insert(text);
        }
        let zeros: Vec<_> = records.iter().map(|(_, text)| without_numbers(text)).collect();
        let fold = Fold::of(executor, joined(zeros.iter().map(String::as_str)).as_bytes());
        let usage = fold.sessions.values().flat_map(|session| &session.usage);
        let invented: Vec<_> = usage.filter(|event| !is_zero(event)).collect();
        if !invented.is_empty() {
            let message = "a log without a number but 0 gives usage";
            let violation = Violation::new(Law::Invention, Place::Completion, message);
            return Err(violation.side("usage", &invented));
        }
        let is_stated = |text: &str| {
            let is_part = |part: &String| part.trim().len() >= PART && text.contains(part.trim());
            let is_phrase = |phrase: &&str| {
                text.strip_prefix(*phrase).is_some_and(|rest| log_text.contains(rest.trim()))
            };
            streams.values().any(|stream| stream.contains(text))
                || log_text.contains(text)
                || stated.iter().any(is_part)
                || phrases.iter().any(is_phrase)
        };
        let fold = Fold::of(executor, log);
        let entries = fold.sessions.values().flat_map(crate::SessionFold::entries);
        let texts = entries.map(|entry| (entry.entry_type.name(), entry.content.to_string()));
        let is_invented =
            |(kind, text): &(&str, String)| *kind != "diagnostic" && !is_stated(text.trim());
        let invented: BTreeSet<_> = texts.filter(is_invented).collect();
        if invented.is_empty() {
            return Ok(if fold.sessions.is_empty() {
                Outcome::Vacuous("no record")
            } else {
                Outcome::Checked
            });
        }
        let message = "texts of entries are not in the log";
        let violation = Violation::new(Law::Invention, Place::Completion, message);
        Err(violation.side("entries", &invented))
    })
}

fn is_zero(event: &DomainEvent) -> bool {
    !matches!(event, DomainEvent::Usage { usage, .. } if !usage.is_zero())
}
