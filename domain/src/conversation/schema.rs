//! JSON Schema of the types with handwritten serialisation, and schemas for other languages.

use std::borrow::Cow;

use schemars::{
    JsonSchema, Schema, SchemaGenerator, json_schema,
    transform::{Transform, transform_subschemas},
};
use serde_json::Value;

use super::{
    extra::Extra,
    id::{CorrId, EntryIdx, SessionId},
};

/// A type that is any object or any text: it has no separate name in a schema.
macro_rules! inline_schema {
    ($($name:ident: $schema:tt),* $(,)?) => {
        $(impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        })*
    };
}

inline_schema! {
    CorrId: { "type": "string" },
    SessionId: { "type": "string" },
    EntryIdx: { "type": "integer", "minimum": 0 },
    Extra: { "type": "object" },
}

/// Removes the formats of Rust from a schema, such as `uint64`: JSON Schema does not know them, and strict validators
/// refuse the whole schema. The bounds that such a format implies are stated instead, if every JSON number keeps them
/// exactly.
///
/// Descriptions become plain: links and examples of Rust lead nowhere in other languages.
///
/// ```
/// use foldline_domain::{Conversation, PortableSchema};
/// use schemars::generate::SchemaSettings;
///
/// let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(PortableSchema);
/// let schema = settings.into_generator().into_root_schema_for::<Conversation>();
/// assert!(!schema.as_value().to_string().contains("\"format\":"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortableSchema;

impl Transform for PortableSchema {
    fn transform(&mut self, schema: &mut Schema) {
        let format = schema.get("format").and_then(Value::as_str);
        let bounds = match format {
            Some("int32") => Some((i64::from(i32::MIN), i64::from(i32::MAX))),
            Some("uint32") => Some((0, i64::from(u32::MAX))),
            _ => None,
        };
        if format.is_some_and(is_of_rust) {
            schema.remove("format");
        }
        if let Some((least, most)) = bounds {
            schema.insert("minimum".to_owned(), least.into());
            schema.insert("maximum".to_owned(), most.into());
        }
        if let Some(Value::String(description)) = schema.get_mut("description") {
            *description = plain(description);
        }
        transform_subschemas(self, schema);
    }
}

/// Whether a format names a number of Rust.
fn is_of_rust(format: &str) -> bool {
    format.starts_with("int") || format.starts_with("uint") || matches!(format, "float" | "double")
}

/// ``[`words`](Self::place)`` and ``[`words`]`` as `words`, without what stands behind an example.
fn plain(text: &str) -> String {
    let text = text.split("```").next().unwrap_or_default().trim_end();
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("[`") {
        plain += before;
        let Some((words, after)) = link.split_once("`]") else {
            return plain + "[`" + link;
        };
        plain = plain + "`" + words + "`";
        let target = after.strip_prefix('(').and_then(|target| target.split_once(')'));
        rest = target.map_or(after, |(_, after)| after);
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use schemars::json_schema;

    use super::*;

    #[test]
    fn formats_become_bounds() {
        let mut schema = json_schema!({
            "properties": {
                "a": { "type": "integer", "format": "uint64", "minimum": 0 },
                "b": { "type": ["integer", "null"], "format": "int32" },
                "c": { "items": { "type": "integer", "format": "uint32" } },
                "d": { "type": "number", "format": "double" },
                "e": { "type": "string", "format": "uri" },
            }
        });
        PortableSchema.transform(&mut schema);
        let expected = json_schema!({
            "properties": {
                "a": { "type": "integer", "minimum": 0 },
                "b": { "type": ["integer", "null"], "minimum": i32::MIN, "maximum": i32::MAX },
                "c": { "items": { "type": "integer", "minimum": 0, "maximum": u32::MAX } },
                "d": { "type": "number" },
                "e": { "type": "string", "format": "uri" },
            }
        });
        assert_eq!(schema, expected);
    }

    #[test]
    fn descriptions_have_no_links() {
        assert_eq!(
            plain("A part of [`a`](Self::a) that [`b`] keeps, [] and [c](d)"),
            "A part of `a` that `b` keeps, [] and [c](d)"
        );
        assert_eq!(plain("Words.\n\n```\nlet it = be;\n```"), "Words.");
    }
}
