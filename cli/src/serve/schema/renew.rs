//! The files are those that the types of Rust make.

use std::{fs, path::Path};

use foldline::position::{Position, SessionKey};
use foldline_domain::{Conversation, DomainEvent, PortableSchema, patch::ConversationPatch};
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::{SCHEMA, TYPES, VERSION, typescript::declarations};
use crate::serve::sessions::Session;

/// The schema of everything that programs get.
fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(PortableSchema)
        .into_generator();
    generator.subschema_for::<Session>();
    generator.subschema_for::<Conversation>();
    generator.subschema_for::<ConversationPatch>();
    // A position is beside the fields of the event, which a derived schema would repeat.
    let located = json!({
        "description": "An event of a log, with the position of the record that caused it.",
        "allOf": [{"$ref": generator.subschema_for::<DomainEvent>().get("$ref")}],
        "type": "object",
        "properties": {
            "position": generator.subschema_for::<Position>(),
            "session": generator.subschema_for::<SessionKey>(),
        },
        "required": ["position", "session"],
    });
    let numbered = json!({
        "description": "A patch of a session, with its number and the position of the record that caused it.",
        "type": "object",
        "properties": {
            "session": generator.subschema_for::<SessionKey>(),
            "seq": {"description": "From 1, for each session.", "type": "integer"},
            "position": generator.subschema_for::<Position>(),
            "patch": generator.subschema_for::<ConversationPatch>(),
        },
        "required": ["session", "seq", "position", "patch"],
    });
    let mut types = generator.take_definitions(true);
    types.insert("LocatedEvent".to_owned(), located);
    types.insert("NumberedPatch".to_owned(), numbered);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": concat!("Foldline ", env!("CARGO_PKG_VERSION")),
        "$id": format!("urn:foldline:schema:{VERSION}"),
        "description": "/api/sessions is an array of ListedSession (at most `limit`, \
                        after the first `offset`; the header X-Total-Count is the number of all, and Link leads to the \
                        next part), /api/sessions/ID is a Conversation, \
                        /api/sessions/ID/patches streams a Conversation (snapshot) and then each ConversationPatch (patch). The header \
                        Foldline-Schema-Version is the version of these types, as in the $id. A refusal is {\"error\": string}.",
        "$defs": Value::Object(types),
    })
}

#[test]
fn the_files_are_those_of_the_types() {
    let schema = schema();
    let json = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    let types = declarations(&schema);
    if std::env::var_os("FOLDLINE_RENEW").is_some() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/serve/schema");
        fs::write(folder.join("foldline.schema.json"), json).unwrap();
        fs::write(folder.join("foldline.d.ts"), types).unwrap();
        return;
    }
    const HOW: &str = "FOLDLINE_RENEW=1 cargo test -p foldline-cli --lib serve::schema";
    assert!(json == SCHEMA, "foldline.schema.json is out of date: {HOW}");
    assert!(types == TYPES, "foldline.d.ts is out of date: {HOW}");
}
