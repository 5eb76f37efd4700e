//! [`Scalar`]: a scalar of a record, and other values for it.

use std::ops::Range;

use foldline_json::{Raw, Scanner};
use jiff::Timestamp;
use serde_json::Value;

/// The maximum depth to which values are inspected.
const DEPTH: usize = 32;

/// Added to numbers, and to times in milliseconds: primes, which no log states by chance. The large one is for values
/// of which a consumer sees only thousands or millions.
const PRIMES: [i64; 2] = [7919, 1_000_000_007];

/// A number that a 64-bit float does not hold.
pub(super) const LARGE: i64 = (1 << 53) + 1;

/// The marks at the beginning, inside and at the end of a string.
pub(in crate::law) const MARKS: [&str; 3] = ["Hd7Q", "Md7Q", "En7Q"];

/// A scalar of a JSON text.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::law) struct Scalar {
    /// The path to it: names of fields, `*` for any element of an array or any field whose name is data, separated by
    /// dots. JSON within a string follows after a colon.
    pub(in crate::law) path: String,
    pub(in crate::law) value: Value,
    /// The range of its text.
    range: Range<usize>,
    /// The string at `range` contains JSON, and this is a scalar of that JSON.
    within: Option<Box<Scalar>>,
}

/// Another value for a scalar.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::law) struct Change {
    pub(super) old: Value,
    pub(in crate::law) new: Value,
    /// The new number and its difference from the old one; of times, in milliseconds.
    pub(super) number: Option<(f64, f64)>,
}

/// Every scalar of the text except `null`, and of the JSON in its strings.
pub(in crate::law) fn scalars(text: &str) -> Vec<Scalar> {
    let mut scalars = Vec::new();
    if let Ok(raw) = Raw::parse(text) {
        walk(text, raw, "", DEPTH, &mut scalars);
    }
    scalars
}

fn walk(text: &str, raw: Raw<'_>, path: &str, depth: usize, scalars: &mut Vec<Scalar>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let begin = raw.get().as_ptr().addr() - text.as_ptr().addr();
    if !raw.get().starts_with(['{', '[']) {
        let Ok(value) = serde_json::from_str::<Value>(raw.get()) else { return };
        let range = begin..begin + raw.get().len();
        let scalar = Scalar { path: path.to_owned(), value, range, within: None };
        if let Some(inner) =
            scalar.value.as_str().filter(|text| text.trim_start().starts_with(['{', '[']))
        {
            let within = self::scalars(inner).into_iter().map(|inner| Scalar {
                path: format!("{path}:{}", inner.path),
                value: inner.value.clone(),
                range: scalar.range.clone(),
                within: Some(Box::new(inner)),
            });
            scalars.extend(within);
        }
        if !scalar.value.is_null() {
            scalars.push(scalar);
        }
        return;
    }
    let _ = Scanner::of(raw).object(|key, value| {
        walk(text, value, &join(path, name(&key.name()?)), depth, scalars);
        Some(())
    });
    let _ = Scanner::of(raw).array(|value| {
        walk(text, value, &join(path, "*"), depth, scalars);
        Some(())
    });
}

/// The name of a field in a path; `*` if it is data, such as a path or an id.
pub(in crate::law) fn name(field: &str) -> &str {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_$-".contains(c);
    let digits = field.chars().filter(char::is_ascii_digit).count();
    let is_plain = !field.is_empty() && field.len() <= 40 && field.chars().all(is_name);
    if is_plain && digits < 4 { field } else { "*" }
}

pub(super) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

impl Scalar {
    /// The text with another value here.
    pub(in crate::law) fn replace(&self, text: &str, value: &Value) -> String {
        let new = match &self.within {
            None => value.to_string(),
            Some(inner) => {
                let outer: String =
                    serde_json::from_str(&text[self.range.clone()]).unwrap_or_default();
                Value::from(inner.replace(&outer, value)).to_string()
            }
        };
        [&text[..self.range.start], &new, &text[self.range.end..]].concat()
    }

    /// The text without the field whose value it is; `None` for an element of an array, or within a string.
    pub(super) fn without(&self, text: &str) -> Option<String> {
        let name = self.path.rsplit('.').next()?;
        if self.within.is_some() || name == "*" {
            return None;
        }
        let before = text[..self.range.start].trim_end().strip_suffix(':')?.trim_end();
        let before = before.strip_suffix(&format!("\"{name}\""))?.trim_end();
        let after = text[self.range.end..].trim_start();
        Some(match (before.strip_suffix(','), after.strip_prefix(',')) {
            (Some(before), _) => [before, after].concat(),
            (None, after_comma) => [before, after_comma.unwrap_or(after)].concat(),
        })
    }

    /// Whether it is a string in an array, of which a list can be marked.
    pub(super) fn is_listed(&self) -> bool {
        let is_free = self.value.is_string() && !self.is_choice();
        is_free && self.within.is_none() && self.path.split('.').any(|name| name == "*")
    }

    /// Whether its value is one of a few: a truth value, or a short word.
    pub(in crate::law) fn is_choice(&self) -> bool {
        is_choice(&self.value)
    }

    /// Other values of the same type, to be tried one after the other until one has an effect.
    pub(in crate::law) fn changes(&self) -> Vec<Change> {
        let change = |new: Value, number| Change { old: self.value.clone(), new, number };
        match &self.value {
            Value::Bool(is) => vec![change((!is).into(), None)],
            Value::Number(number) => PRIMES
                .iter()
                .filter_map(|prime| {
                    let new = match (number.as_i64(), number.as_f64()) {
                        (Some(number), _) => Value::from(number.saturating_add(*prime)),
                        (None, Some(number)) => Value::from(number + *prime as f64),
                        (None, None) => return None,
                    };
                    let number = new.as_f64().map(|new| (new, *prime as f64));
                    Some(change(new, number))
                })
                .collect(),
            Value::String(text) => match text.parse::<Timestamp>() {
                Ok(time) => PRIMES
                    .iter()
                    .filter_map(|prime| {
                        let millis = time.as_millisecond().checked_add(*prime)?;
                        let new = Timestamp::from_millisecond(millis).ok()?.to_string();
                        Some(change(new.into(), Some((millis as f64, *prime as f64))))
                    })
                    .collect(),
                Err(_) => vec![change(marked(text).into(), None)],
            },
            Value::Null | Value::Array(_) | Value::Object(_) => Vec::new(),
        }
    }
}

/// The text with a mark at its beginning, inside and at its end.
fn marked(text: &str) -> String {
    let [head, inner, end] = MARKS;
    let middle = text.char_indices().map(|(at, _)| at).nth(text.chars().count() / 2);
    let (left, right) = text.split_at(middle.unwrap_or(0));
    [head, left, inner, right, end].concat()
}

impl Scalar {
    /// The class of its value: scalars of one class are treated alike, as a rule.
    pub(super) fn class(&self) -> String {
        let of = |marks: &[(bool, &str)]| -> String {
            marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect()
        };
        match &self.value {
            value if is_choice(value) => value.to_string(),
            Value::String(text) => of(&[
                (text.is_empty(), "empty"),
                (text.len() > 2 << 10, " long"),
                (text.len() > 64 << 10, " longer"),
                (text.contains('\n'), " lines"),
                (text.contains("\n\n"), " paragraphs"),
                (text.contains('\r'), " returns"),
                (text.trim() != text, " spaces"),
                (text.chars().any(|c| c.is_control() && !c.is_whitespace()), " controls"),
                (!text.is_ascii(), " unicode"),
                (text.starts_with(['/', '<', '{', '[']), " markup"),
            ]),
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or(f64::NAN);
                let fraction = number.fract() != 0.0;
                let digits = number.abs().log2().max(0.0) / 15.9;
                format!("{} {fraction} {} {}", number == 0.0, number < 0.0, digits as u8)
            }
            _ => String::new(),
        }
    }
}

/// Whether a value is one of a few: a truth value, or a short word. Most ids have digits.
pub(in crate::law) fn is_choice(value: &Value) -> bool {
    let Value::String(word) = value else { return value.is_boolean() };
    let is_word = |c: char| c.is_ascii_alphabetic() || "_-/.".contains(c);
    !word.is_empty() && word.len() <= 32 && word.chars().all(is_word)
}
