//! [`Marks`]: replaces secrets by marks, and counts them.

use std::collections::BTreeMap;

use super::{
    find::{PASSES, Secret},
    lines::search,
    rules::HOME,
};

/// The marks that replace secrets.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    /// The number of each secret within its kind.
    numbers: BTreeMap<&'static str, BTreeMap<String, usize>>,
}

impl Marks {
    /// The text with a mark in place of each secret; `None` if there is none. The text may be JSON, which it stays.
    /// `found` receives each secret. A mark may show what the secret before it hid, so the result is searched again
    /// until nothing more is found.
    pub(super) fn replace(
        &mut self,
        text: &str,
        is_id: bool,
        mut found: impl FnMut(Secret),
    ) -> Option<String> {
        let mut replaced = self.replace_once(text, is_id, &mut found)?;
        for _ in 1..PASSES {
            match self.replace_once(&replaced, is_id, &mut found) {
                Some(again) => replaced = again,
                None => break,
            }
        }
        Some(replaced)
    }

    fn replace_once(
        &mut self,
        text: &str,
        is_id: bool,
        found: &mut impl FnMut(Secret),
    ) -> Option<String> {
        let secrets = search(text.as_bytes(), is_id);
        if secrets.is_empty() {
            return None;
        }
        let mut replaced = String::with_capacity(text.len());
        let mut end = 0;
        for secret in secrets {
            replaced.push_str(text.get(end..secret.whole.start).unwrap_or_default());
            replaced.push_str(&self.mark(secret.kind, &secret.text));
            end = secret.whole.end;
            found(secret);
        }
        replaced.push_str(text.get(end..).unwrap_or_default());
        Some(replaced)
    }

    /// The mark of a secret: the same secret always has the same mark.
    fn mark(&mut self, kind: &'static str, secret: &str) -> String {
        if kind == HOME {
            return if secret.starts_with('-') { "-~" } else { "~" }.to_owned();
        }
        let numbers = self.numbers.entry(kind).or_default();
        let next = numbers.len() + 1;
        let number = match numbers.get(secret) {
            Some(number) => *number,
            None => *numbers.entry(secret.to_owned()).or_insert(next),
        };
        format!("[{kind} {number}]")
    }
}
