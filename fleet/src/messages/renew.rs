//! The schema is generated from the Rust types.

use std::{fs, path::Path};

use foldline_domain::{DomainEvent, PortableSchema, patch::ConversationPatch};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::{
    Reached, SCHEMA, VERSION,
    envelope::{Envelope, TextPart},
};

/// A JSON Patch (RFC 6902) of the document of a session.
#[derive(JsonSchema)]
#[schemars(rename = "Patch")]
#[expect(dead_code, reason = "only its schema is used")]
struct PatchSchema {
    patch: ConversationPatch,
}

/// A position in a log.
#[derive(JsonSchema)]
#[schemars(rename = "Position")]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct PositionSchema {
    /// The line, counted from 1; 0 before the first line.
    line: u64,
    /// The offset of the record in bytes, from 0 at the start of the file.
    offset: u64,
}

/// The schema of the messages.
fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(PortableSchema)
        .into_generator();
    generator.subschema_for::<Envelope<'_>>();
    generator.subschema_for::<TextPart<'_>>();
    generator.subschema_for::<DomainEvent>();
    generator.subschema_for::<PatchSchema>();
    generator.subschema_for::<Reached>();
    let mut types: Map<String, Value> = generator.take_definitions(true);
    let link = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    let message = |item: &str, description: &str| {
        json!({
            "description": description,
            "allOf": [link("Envelope"), { "oneOf": [link(item), link("TextPart")] }],
        })
    };
    let event = message("DomainEvent", "The value of a message of PREFIX.events.");
    let patch = message("Patch", "The value of a message of PREFIX.patches.");
    types.insert("EventMessage".to_owned(), event);
    types.insert("PatchMessage".to_owned(), patch);
    let checkpoint = types.remove("Reached").unwrap();
    types.insert("CheckpointMessage".to_owned(), checkpoint);
    for name in ["Envelope", "CheckpointMessage"] {
        types[name]["properties"]["version"] = json!({ "const": VERSION });
    }
    let any = ["EventMessage", "PatchMessage", "CheckpointMessage"];
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": format!("urn:foldline:fleet:messages:{VERSION}"),
        "title": "Messages of a fleet",
        "description": "The values of the topics PREFIX.events (EventMessage), PREFIX.patches (PatchMessage) and \
                        PREFIX.checkpoints (CheckpointMessage).",
        "anyOf": any.map(link),
        "$defs": types,
    })
}

#[test]
fn the_schema_is_that_of_the_types() {
    let schema = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("FOLDLINE_RENEW").is_some() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/messages");
        fs::write(folder.join("messages.schema.json"), schema).unwrap();
        return;
    }
    const HOW: &str = "FOLDLINE_RENEW=1 cargo test -p foldline-fleet --lib messages::renew";
    assert!(schema == SCHEMA, "messages.schema.json is out of date: {HOW}");
}
