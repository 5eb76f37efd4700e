//! [`Masker`]: masks secrets in raw lines of a log; [`Marks`]: replaces them by marks.

use std::collections::BTreeMap;

use super::{
    find::{PASSES, Secret},
    lines::search,
    rules::HOME,
};

/// Masks secrets in the lines of a log: each of their bytes becomes a `*`. It finds the same secrets as
/// [`Redact`](super::Redact), in the same way.
///
/// - A line keeps its length, so positions in the log stay valid.
/// - JSON keeps its structure: only the contents of strings are masked, and quotes stay. A line that is not JSON is
///   masked as text.
/// - Masking a line does not depend on earlier lines, and masking it again changes nothing. A secret that an agent
///   writes in several lines of the log, such as pieces of a growing text, is therefore not found.
/// - Of a home directory, only the user name is masked: `/home/***/notes`.
/// - Ids stay, so that results can be matched to their calls: the values of fields whose names end in `id` (or `Ids`,
///   `_ID`, ...) are not tested for randomness.
/// - Invalid UTF-8 is harmless. In UTF-16 text, ASCII secrets are found.
///
/// ```
/// use foldline_render::redact::Masker;
///
/// let mut masker = Masker::new();
/// let mut line = br#"{"id":7,"text":"ask ada@example.org,\nsee /home/ada/notes","password":"hunter22"}"#.to_vec();
/// masker.mask(&mut line);
/// assert_eq!(
///     String::from_utf8_lossy(&line),
///     r#"{"id":7,"text":"ask ***************,\nsee /home/***/notes","password":"********"}"#
/// );
/// assert_eq!(masker.masked().collect::<Vec<_>>(), [("email", 1), ("home-folder", 1), ("password", 1)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Masker {
    counts: BTreeMap<&'static str, u64>,
}

impl Masker {
    /// A masker without counts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Masks the secrets in a line, with or without its line end.
    pub fn mask(&mut self, line: &mut [u8]) {
        // Asterisks may show what the secret before them hid.
        for _ in 0..PASSES {
            let secrets = search(line, false);
            if secrets.is_empty() {
                break;
            }
            for secret in secrets {
                *self.counts.entry(secret.kind).or_default() += 1;
                cover(line.get_mut(secret.cover));
            }
        }
    }

    /// The number of masked strings of each kind, sorted by kind.
    pub fn masked(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.counts.iter().map(|(kind, count)| (*kind, *count))
    }
}

/// Masks bytes, except those that may be a line end or half of one.
fn cover(bytes: Option<&mut [u8]>) {
    let bytes = bytes.into_iter().flatten();
    for byte in bytes.filter(|byte| !matches!(**byte, b'\n' | b'\r' | 0)) {
        *byte = b'*';
    }
}

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
