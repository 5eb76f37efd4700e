//! Markers planted in the strings of a JSON text.

use crate::json::{Raw, Scanner};

/// The maximum depth to which values are inspected.
const DEPTH: usize = 32;

/// A string value of a JSON text, where a marker can be planted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// The path to it: names of fields, `*` for any element of an array, separated by dots; a dot within a name is
    /// written as `_`.
    pub(super) path: String,
    /// The offset of the byte after its last character.
    end: usize,
    /// The string itself contains JSON, and this is a spot within that JSON.
    within: Option<(usize, Box<Spot>)>,
}

/// Every string value of the text, and of JSON embedded in its strings.
pub(super) fn spots(text: &str) -> Vec<Spot> {
    let mut spots = Vec::new();
    if let Ok(raw) = Raw::parse(text) {
        walk(text, raw, "", DEPTH, &mut spots);
    }
    spots
}

fn walk(text: &str, raw: Raw<'_>, path: &str, depth: usize, spots: &mut Vec<Spot>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let begin = raw.get().as_ptr().addr() - text.as_ptr().addr();
    if raw.is_string() {
        let end = begin + raw.get().len() - 1;
        spots.push(Spot { path: path.to_owned(), end, within: None });
        let Ok(inner) = serde_json::from_str::<String>(raw.get()) else { return };
        if inner.trim_start().starts_with(['{', '[']) {
            let within = self::spots(&inner).into_iter().map(|spot| Spot {
                path: join(path, &spot.path),
                end,
                within: Some((begin, Box::new(spot))),
            });
            spots.extend(within);
        }
        return;
    }
    let _ = Scanner::of(raw).object(|key, value| {
        walk(text, value, &join(path, &key.name()?.replace('.', "_")), depth, spots);
        Some(())
    });
    let _ = Scanner::of(raw).array(|value| {
        walk(text, value, &join(path, "*"), depth, spots);
        Some(())
    });
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

impl Spot {
    /// The text with the marker at the end of this string. The marker needs no escapes.
    pub(super) fn plant(&self, text: &str, marker: &str) -> String {
        let (head, tail) = text.split_at(self.end);
        let Some((begin, spot)) = &self.within else { return [head, marker, tail].concat() };
        let inner = serde_json::from_str::<String>(&text[*begin..=self.end]).unwrap_or_default();
        let planted = serde_json::Value::from(spot.plant(&inner, marker)).to_string();
        [&text[..*begin], &planted, &tail[1..]].concat()
    }

    /// Whether one of these is this field of a record of type `record`, or a field that contains it.
    pub(super) fn is_in(&self, record: &str, dropped: &[Dropped<'_>]) -> bool {
        dropped.iter().any(|(of, path)| {
            let of_all = of.strip_suffix('*').is_some_and(|prefix| record.starts_with(prefix));
            let mut names = self.path.split('.');
            let mut leads_here =
                |wanted| names.next().is_some_and(|n| wanted == "*" || wanted == n);
            (of_all || *of == record) && path.split('.').all(&mut leads_here)
        })
    }
}

/// A field that an executor drops on purpose: the type of its records and the path to it, such as `("message",
/// "usage.iterations.*.type")`.
///
/// The type is the value of [`Header::name`](crate::executors::Header); a type that ends with `*` matches all types
/// with that prefix. In the path, names are separated by dots (a dot within a name is written as `_`), and `*`
/// matches any element of an array and any name. A path covers everything in the field.
pub type Dropped<'d> = (&'d str, &'d str);

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"a":"x\"","b":[1,{"c":""}],"d":"{\"e\":[\"f\"]}"}"#;

    #[test]
    fn every_string_value_is_found() {
        let spots = spots(TEXT);
        let planted: Vec<_> =
            spots.iter().map(|spot| (spot.path.as_str(), spot.plant(TEXT, "M"))).collect();
        let expected = [
            ("a", r#"{"a":"x\"M","b":[1,{"c":""}],"d":"{\"e\":[\"f\"]}"}"#),
            ("b.*.c", r#"{"a":"x\"","b":[1,{"c":"M"}],"d":"{\"e\":[\"f\"]}"}"#),
            ("d", r#"{"a":"x\"","b":[1,{"c":""}],"d":"{\"e\":[\"f\"]}M"}"#),
            ("d.e.*", r#"{"a":"x\"","b":[1,{"c":""}],"d":"{\"e\":[\"fM\"]}"}"#),
        ];
        assert_eq!(planted, expected.map(|(path, text)| (path, text.to_owned())));
    }

    #[test]
    fn a_path_stands_for_everything_in_it() {
        let spots = spots(TEXT);
        let covered =
            |path: &str| spots.iter().filter(|spot| spot.is_in("type", &[("type", path)])).count();
        assert_eq!(
            ["a", "b", "b.*", "b.*.c", "*.*.c", "d", "d.e", "c", "b.c"].map(covered),
            [1, 1, 1, 1, 1, 2, 1, 0, 0]
        );
        let of = |record: &str| spots[0].is_in(record, &[("system/*", "a")]);
        assert_eq!(
            ["system/init", "system/", "system", "user"].map(of),
            [true, true, false, false]
        );
    }
}
