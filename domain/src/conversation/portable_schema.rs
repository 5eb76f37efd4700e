//! [`PortableSchema`]: schemas that validators of other languages accept.

use schemars::{
    Schema,
    transform::{Transform, transform_subschemas},
};
use serde_json::Value;

/// Removes the formats of Rust from a schema, such as `uint64`: JSON Schema does not know them, and strict validators
/// refuse the whole schema. The bounds that such a format implies are stated instead, if every JSON number keeps them
/// exactly.
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
        transform_subschemas(self, schema);
    }
}

/// Whether a format names a number of Rust.
fn is_of_rust(format: &str) -> bool {
    format.starts_with("int") || format.starts_with("uint") || matches!(format, "float" | "double")
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
}
