//! JSON Schema of the types with handwritten serialisation: any value, and any text.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{Json, Text};

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
    Text: { "type": "string" },
    Json: {},
}
