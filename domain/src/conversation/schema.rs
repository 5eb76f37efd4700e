//! JSON Schema of the types with handwritten serialisation.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

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
