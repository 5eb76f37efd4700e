//! The topics that other programs read.

use serde_json::Value;

use super::Topics;
use crate::foldline_fleet;

/// Every message is valid by the schema of its topic.
pub(crate) fn assert_valid(topics: &Topics) {
    let printed = foldline_fleet().arg("schema").output().unwrap();
    assert!(printed.status.success());
    let schema: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let version = schema["$id"].as_str().unwrap().rsplit(':').next().unwrap();
    for (topic, message) in [
        ("events", "EventMessage"),
        ("patches", "PatchMessage"),
        ("checkpoints", "CheckpointMessage"),
    ] {
        let mut schema = schema.clone();
        let fields = schema.as_object_mut().unwrap();
        fields.remove("anyOf");
        fields.insert("$ref".to_owned(), format!("#/$defs/{message}").into());
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let messages = topics.read(topic);
        assert!(!messages.is_empty(), "{topic}");
        for message in messages {
            let value: Value = serde_json::from_slice(&message.value).unwrap();
            if let Err(error) = validator.validate(&value) {
                panic!("{topic}: {error} at {}: {value}", error.instance_path);
            }
            assert_eq!(value["version"].to_string(), version, "{value}");
            assert_eq!(value["source"], message.headers["source"].as_str(), "{value}");
        }
        // The schema does not accept everything.
        assert!(!validator.is_valid(&serde_json::json!({ "version": 1, "source": "s" })));
    }
}
