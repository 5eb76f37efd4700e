//! Declarations for TypeScript, from a JSON Schema as it is made of types of Rust.

use std::fmt::Write;

use serde_json::{Map, Value};

type Fields = Map<String, Value>;

/// A type for each of the `$defs`.
pub(super) fn declarations(schema: &Value) -> String {
    let mut all =
        "// Made from the types of Rust. What is made there is not edited here.\n".to_owned();
    if let Some(about) = schema["description"].as_str() {
        let title = schema["title"].as_str().unwrap_or_default();
        let _ = write!(all, "//\n// {title}. {about}\n");
    }
    for (name, schema) in schema["$defs"].as_object().into_iter().flatten() {
        let (comment, of) = (comment(schema, ""), of(schema, ""));
        let space = if of.starts_with('\n') { "" } else { " " };
        let _ = write!(all, "\n{comment}export type {name} ={space}{of};\n");
    }
    all
}

fn comment(schema: &Value, indent: &str) -> String {
    match schema["description"].as_str() {
        Some(text) => {
            let lines = text.lines().map(|line| format!(" {line}").trim_end().to_owned());
            format!("/**{} */\n{indent}", lines.collect::<Vec<_>>().join(&format!("\n{indent} *")))
        }
        None => String::new(),
    }
}

/// The type of a schema: all that it demands, joined.
fn of(schema: &Value, indent: &str) -> String {
    let Some(fields) = schema.as_object() else { return "unknown".to_owned() };
    let mut parts = Vec::new();
    if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
        parts.push(reference.trim_start_matches("#/$defs/").to_owned());
    }
    if let Some(all) = fields.get("allOf").and_then(Value::as_array) {
        parts.extend(all.iter().map(|schema| of(schema, indent)));
    }
    for choice in ["oneOf", "anyOf"] {
        if let Some(choices) = fields.get(choice).and_then(Value::as_array) {
            parts.push(union(choices, indent));
        }
    }
    if let Some(constant) = fields.get("const") {
        parts.push(constant.to_string());
    } else if let Some(values) = fields.get("enum").and_then(Value::as_array) {
        parts.push(values.iter().map(Value::to_string).collect::<Vec<_>>().join(" | "));
    } else if let Some(name) = fields.get("type") {
        let names = name.as_array().map_or(std::slice::from_ref(name), Vec::as_slice);
        // In addition to other demands, it only says that it is an object.
        if parts.is_empty() || fields.contains_key("properties") {
            let names = names.iter().map(|name| primitive(name, fields, indent));
            parts.push(names.collect::<Vec<_>>().join(" | "));
        }
    }
    match parts.as_slice() {
        [] => "unknown".to_owned(),
        [one] => one.clone(),
        _ => parts.iter().map(|part| grouped(part)).collect::<Vec<_>>().join(" & "),
    }
}

fn union(choices: &[Value], indent: &str) -> String {
    let is_long = choices.iter().any(|choice| choice["properties"].is_object());
    let choices: Vec<_> =
        choices.iter().map(|choice| (comment(choice, indent), of(choice, indent))).collect();
    let has_comments = choices.iter().any(|(comment, _)| !comment.is_empty());
    if !is_long && !has_comments {
        return choices.into_iter().map(|(_, choice)| choice).collect::<Vec<_>>().join(" | ");
    }
    let choices = choices.into_iter().map(|(comment, choice)| {
        let comment = comment.trim_end();
        match comment.is_empty() {
            true => format!("\n{indent}| {choice}"),
            false => format!("\n{indent}{comment}\n{indent}| {choice}"),
        }
    });
    choices.collect()
}

/// A union within something else.
fn grouped(part: &str) -> String {
    let is_object = part.starts_with('{') && part.ends_with('}');
    if part.contains('|') && !is_object { format!("({part})") } else { part.to_owned() }
}

fn primitive(name: &Value, fields: &Fields, indent: &str) -> String {
    match name.as_str() {
        Some("integer" | "number") => "number".to_owned(),
        Some("array") => array(fields, indent),
        Some("object") => object(fields, indent),
        Some(name) => name.to_owned(),
        None => "unknown".to_owned(),
    }
}

fn array(fields: &Fields, indent: &str) -> String {
    let item = fields.get("items").map_or_else(|| "unknown".to_owned(), |item| of(item, indent));
    match (fields.get("minItems"), fields.get("maxItems")) {
        (Some(least), Some(most)) if least == most && *least == 1 => format!("[{item}]"),
        _ => format!("{}[]", grouped(&item)),
    }
}

fn object(fields: &Fields, indent: &str) -> String {
    let Some(properties) = fields.get("properties").and_then(Value::as_object) else {
        let value = fields.get("additionalProperties").filter(|value| value.is_object());
        let value = value.map_or_else(|| "unknown".to_owned(), |value| of(value, indent));
        return format!("{{ [name: string]: {value} }}");
    };
    let required = fields.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|required| required.iter().any(|it| it == name));
    let inner = format!("{indent}  ");
    let mut object = "{".to_owned();
    for (name, schema) in properties {
        let mark = if is_required(name) { "" } else { "?" };
        let (comment, of) = (comment(schema, &inner), of(schema, &inner));
        let _ = write!(object, "\n{inner}{comment}{name}{mark}: {of};");
    }
    let _ = write!(object, "\n{indent}}}");
    object
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_become_types() {
        let cases = [
            (json!(true), "unknown"),
            (json!({"type": ["integer", "null"]}), "number | null"),
            (json!({"enum": ["a", "b"]}), "\"a\" | \"b\""),
            (json!({"type": "array", "items": {"type": ["string", "null"]}}), "(string | null)[]"),
            (
                json!({"type": "array", "items": {"$ref": "#/$defs/A"}, "minItems": 1, "maxItems": 1}),
                "[A]",
            ),
            (
                json!({"type": "object", "additionalProperties": {"type": "number"}}),
                "{ [name: string]: number }",
            ),
            (json!({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}), "A | null"),
            (
                json!({"$ref": "#/$defs/A", "type": "object", "properties": {"b": {"const": "c"}}, "required": ["b"]}),
                "A & {\n  b: \"c\";\n}",
            ),
        ];
        for (schema, expected) in cases {
            assert_eq!(of(&schema, ""), expected);
        }
    }
}
