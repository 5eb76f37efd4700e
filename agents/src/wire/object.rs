//! [`Object`]: a JSON object whose values are parsed on demand.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use foldline_domain::{CorrId, Json, Text, Timestamp};
use foldline_json::{Raw, Scanner};
use serde::{Deserialize, Deserializer, de};

use super::value;

/// A JSON object whose fields are taken one by one. The remaining fields, which the executor does not know, are
/// reported.
///
/// Parsing scans the text once and copies nothing. A field of another type than the requested one
/// is not taken; `null` counts as absent.
#[derive(Clone, Default)]
pub struct Object<'a> {
    fields: Vec<Field<'a>>,
    /// The likely index of the next field, since logs write their keys in a constant order.
    next: usize,
}

#[derive(Clone)]
struct Field<'a> {
    tag: u64,
    name: Cow<'a, str>,
    /// `None` after it was taken.
    value: Option<Raw<'a>>,
}

impl<'a> Field<'a> {
    #[inline]
    fn new(name: Cow<'a, str>, value: Raw<'a>) -> Self {
        Self { tag: tag(&name), name, value: Some(value) }
    }

    #[inline]
    fn is(&self, tag: u64, name: &str) -> bool {
        const TAG: usize = size_of::<u64>();
        self.tag == tag
            && self.name.len() == name.len()
            && (name.len() <= TAG || self.name.as_bytes()[TAG..] == name.as_bytes()[TAG..])
    }
}

/// The first eight bytes of a name as a number, which is fast to compare and differs for most names. It identifies
/// names of the same length of up to eight bytes.
#[inline]
fn tag(name: &str) -> u64 {
    let name = name.as_bytes();
    let half = |half: &[u8; 4]| u64::from(u32::from_le_bytes(*half));
    match (name.first_chunk(), name.first_chunk(), name.last_chunk()) {
        (Some(first), _, _) => u64::from_le_bytes(*first),
        (None, Some(first), Some(last)) => half(first) | half(last) << 32,
        _ => name.iter().fold(0, |tag, byte| tag << 8 | u64::from(*byte)),
    }
}

/// The largest number of fields of an object that is parsed. A larger one is kept as a raw value, since
/// a parsed object takes many times the memory of its text.
pub const MAX_FIELDS: usize = 1 << 13;

/// Fields that were not taken, by name.
pub type Fields<'a> = Vec<(Cow<'a, str>, Raw<'a>)>;

impl<'a> Object<'a> {
    /// Parses the text of one object.
    ///
    /// # Errors
    /// The text is not a JSON object, or has more than [`MAX_FIELDS`] fields.
    pub fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        match Self::scan(Scanner::new(text)) {
            Some(object) => Ok(object),
            None => serde_json::from_str(text),
        }
    }

    /// Parses a raw value; `None` if it is not an object, or has more than
    /// [`MAX_FIELDS`] fields.
    pub fn of(raw: Raw<'a>) -> Option<Self> {
        Self::scan(Scanner::of(raw))
    }

    fn scan(mut scanner: Scanner<'a>) -> Option<Self> {
        let mut fields = Vec::with_capacity(12);
        scanner.object(|key, value| {
            fields.push(Field::new(key.name()?, value));
            (fields.len() <= MAX_FIELDS).then_some(())
        })?;
        scanner.end().then_some(Self { fields, next: 0 })
    }

    /// The value of a field, without taking it.
    #[inline]
    pub fn get(&self, key: &str) -> Option<Raw<'a>> {
        let tag = tag(key);
        self.fields.iter().find(|field| field.is(tag, key))?.value
    }

    /// The value of a field, if it is a string, without taking it.
    pub fn get_str(&self, key: &str) -> Option<Cow<'a, str>> {
        value::as_str(self.get(key)?)
    }

    /// Whether the field exists, taken or not.
    #[inline]
    pub fn has(&self, key: &str) -> bool {
        let tag = tag(key);
        self.fields.iter().any(|field| field.is(tag, key))
    }

    /// Whether it has all of these fields, taken or not.
    pub fn has_all(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.has(key))
    }

    /// Whether it has one of these fields, taken or not.
    pub fn has_any(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.has(key))
    }

    /// Takes a field if `read` can read it.
    #[inline]
    pub fn take<T>(&mut self, key: &str, read: impl Fn(Raw<'a>) -> Option<T>) -> Option<T> {
        let tag = tag(key);
        let is_it = |field: &Field<'_>| field.is(tag, key) && field.value.is_some();
        let (behind, ahead) = self.fields.split_at(self.next);
        let found = ahead.iter().position(is_it).map(|at| self.next + at);
        let at = found.or_else(|| behind.iter().position(is_it))?;
        let slot = &mut self.fields[at].value;
        let raw = (*slot)?;
        self.next = at + 1;
        let taken = if raw.is_null() { None } else { read(raw) };
        if taken.is_some() || raw.is_null() {
            *slot = None;
        }
        taken
    }

    /// Takes a field as it is.
    pub fn raw(&mut self, key: &str) -> Option<Raw<'a>> {
        self.take(key, Some)
    }

    /// Takes a field as an uninterpreted JSON value.
    pub fn json(&mut self, key: &str) -> Option<Json> {
        self.take(key, |raw| Some(raw.into()))
    }

    /// Takes fields unchanged, as extra fields of an entry.
    pub fn extra(&mut self, keys: &[&str]) -> Vec<(String, Json)> {
        let taken = keys.iter().filter_map(|key| Some(((*key).to_owned(), self.json(key)?)));
        taken.collect()
    }

    /// Takes a string that the executor inspects.
    pub fn str(&mut self, key: &str) -> Option<Cow<'a, str>> {
        self.take(key, value::as_str)
    }

    /// Takes a string that the executor only passes on.
    pub fn text(&mut self, key: &str) -> Option<Text> {
        self.take(key, Text::from_raw)
    }

    /// Takes a correlation id: a string that is not empty.
    pub fn corr_id(&mut self, key: &str) -> Option<CorrId> {
        self.str(key).filter(|id| !id.is_empty()).map(CorrId::from)
    }

    /// Takes a boolean.
    pub fn bool(&mut self, key: &str) -> Option<bool> {
        self.take(key, value::parse)
    }

    /// Takes an integer that is not negative; also one written as a string.
    pub fn u64(&mut self, key: &str) -> Option<u64> {
        self.take(key, value::as_u64)
    }

    /// Takes a number.
    pub fn f64(&mut self, key: &str) -> Option<f64> {
        self.take(key, value::parse)
    }

    /// Takes a timestamp: a number since 1970 or an RFC 3339 string. A name that ends with `_ms` states milliseconds.
    pub fn timestamp(&mut self, key: &str) -> Option<Timestamp> {
        let states_unit = key.ends_with("_ms");
        self.take(key, if states_unit { value::as_millis } else { value::as_timestamp })
    }

    /// Takes an object.
    pub fn object(&mut self, key: &str) -> Option<Object<'a>> {
        self.take(key, object)
    }

    /// Takes an array, unless it has [too many](value::MAX_ELEMENTS) elements.
    pub fn array(&mut self, key: &str) -> Option<Vec<Raw<'a>>> {
        self.take(key, value::elements)
    }

    /// Takes an array of strings; an array with any other element is not taken.
    pub fn texts(&mut self, key: &str) -> Option<Vec<Text>> {
        self.take(key, |raw| value::elements(raw)?.into_iter().map(Text::from_raw).collect())
    }

    /// Takes fields that the executor knows and ignores.
    #[inline]
    pub fn ignore(&mut self, keys: &[&str]) {
        for key in keys {
            let tag = tag(key);
            for field in &mut self.fields {
                if field.is(tag, key) {
                    field.value = None;
                }
            }
        }
    }

    /// Takes a string that the executor knows and ignores.
    pub fn ignore_str(&mut self, key: &str) {
        let _: Option<()> = self.take(key, |raw| raw.is_string().then_some(()));
    }

    /// The fields that were not taken.
    pub fn rest(self) -> Fields<'a> {
        let left = |field: &Field<'a>| field.value.filter(|raw| !raw.is_null());
        // Most objects are taken as a whole.
        if self.fields.iter().all(|field| left(field).is_none()) {
            return Vec::new();
        }
        let named = |field: Field<'a>| left(&field).map(|raw| (field.name, raw));
        self.fields.into_iter().filter_map(named).collect()
    }

    /// Adds the fields that were not taken from a nested object, the value of the field `of`, under names such as
    /// `usage.credits`. With an empty `of`, they keep their names.
    pub fn adopt(&mut self, of: &str, nested: Self) {
        for (name, raw) in nested.rest() {
            let name = if of.is_empty() { name } else { Cow::Owned(format!("{of}.{name}")) };
            self.fields.push(Field::new(name, raw));
        }
    }

    /// Takes an object. Fields that `read` does not take are [adopted](Self::adopt).
    pub fn within<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let mut nested = self.object(key)?;
        let taken = read(&mut nested);
        self.adopt(key, nested);
        Some(taken)
    }

    /// Takes an array of objects like [`within`](Self::within); an array with any other element is not taken.
    pub fn within_each<T>(
        &mut self,
        key: &str,
        mut read: impl FnMut(&mut Self) -> T,
    ) -> Option<Vec<T>> {
        let objects = |raw| value::elements(raw)?.into_iter().map(object).collect();
        let objects: Vec<Self> = self.take(key, objects)?;
        let taken = objects.into_iter().map(|mut nested| {
            let taken = read(&mut nested);
            self.adopt(key, nested);
            taken
        });
        Some(taken.collect())
    }

    /// Takes an object of named objects like [`within`](Self::within); an empty object, or one with any other value, is
    /// not taken.
    pub fn within_values<T>(
        &mut self,
        key: &str,
        mut read: impl FnMut(&str, &mut Self) -> T,
    ) -> Option<Vec<T>> {
        let named = |(name, raw)| Some((name, object(raw)?));
        let objects: Vec<_> = self.take(key, |raw| {
            object(raw)?
                .rest()
                .into_iter()
                .map(named)
                .collect::<Option<_>>()
                .filter(|objects: &Vec<_>| !objects.is_empty())
        })?;
        let taken = objects.into_iter().map(|(name, mut nested)| {
            let taken = read(&name, &mut nested);
            self.adopt(&format!("{key}.{name}"), nested);
            taken
        });
        Some(taken.collect())
    }

    /// The fields that were not taken, as extra fields of an entry.
    pub fn into_extra(self) -> impl Iterator<Item = (String, Json)> {
        let fields = self.rest();
        distinct(&fields).map(|(name, raw)| (name, raw.into())).collect::<Vec<_>>().into_iter()
    }
}

/// The value as an object, if it is one: [`Object::of`] as a function.
pub fn object(raw: Raw<'_>) -> Option<Object<'_>> {
    Object::of(raw)
}

/// The fields under unique names: a repeated name becomes `name#2`, and so on.
pub(crate) fn distinct<'f, 'a>(
    fields: &'f Fields<'a>,
) -> impl Iterator<Item = (String, Raw<'a>)> + 'f {
    let mut counts = BTreeMap::<&str, usize>::new();
    fields.iter().map(move |(name, raw)| {
        let count = counts.entry(name).or_default();
        *count += 1;
        let name = if *count == 1 { name.to_string() } else { format!("{name}#{count}") };
        (name, *raw)
    })
}

impl fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.fields.iter().map(|field| (&field.name, &field.value));
        f.debug_map().entries(fields).finish()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::with_capacity(12);
                while let Some((Key(name), raw)) = map.next_entry()? {
                    if fields.len() == MAX_FIELDS {
                        return Err(de::Error::custom("too many fields"));
                    }
                    fields.push(Field::new(name, raw));
                }
                Ok(Object { fields, ..Object::default() })
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

/// A key, borrowed if it has no escape.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}
