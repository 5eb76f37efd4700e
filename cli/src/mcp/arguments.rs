//! Arguments that tools have in common, and their JSON Schema.

use foldline_database::query::SessionFilter;
use foldline_render::terminal::neutralise;
use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::transform_subschemas};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::{quote::clip, tokens::Tokens};
use crate::error::Error;

/// A JSON object, such as the arguments of a call.
pub(crate) type Object = Map<String, Value>;

/// The tokens of an answer by default, and the bounds of a request for another number.
const USUAL_TOKENS: u32 = 2_000;
pub(crate) const LEAST_TOKENS: u32 = 200;
pub(crate) const MOST_TOKENS: u32 = 20_000;

/// The longest text of an argument in bytes.
const LONGEST: usize = 400;

/// The sessions that a question is about.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Scope {
    /// Folder or its end; default: here.
    pub(crate) project: Option<String>,
    /// All projects.
    pub(crate) all_projects: bool,
    /// 7d, "last week", 2026-01-31 or RFC 3339.
    pub(crate) since: Option<String>,
    /// As since.
    pub(crate) until: Option<String>,
    /// Agent or prefix.
    pub(crate) agent: Option<String>,
}

/// Where the sessions are from, which a team asks.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Origin {
    /// Machine.
    pub(crate) host: Option<String>,
    /// Whose.
    pub(crate) user: Option<String>,
}

impl Origin {
    /// The sessions that are from there among those of a filter.
    pub(crate) fn of(&self, filter: SessionFilter) -> SessionFilter {
        let Self { host, user } = self.clone();
        SessionFilter { host, user, ..filter }
    }

    /// What it adds to the subject of an answer without results.
    pub(crate) fn stated(&self) -> String {
        let parts = [("user", &self.user), ("host", &self.host)].into_iter();
        let stated = parts.filter_map(|(what, name)| {
            Some(format!(" of the {what} {:?}", clip(name.as_deref()?, 60)))
        });
        stated.collect()
    }
}

/// The size of an answer.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Bounds {
    /// Default: 2000.
    #[schemars(range(min = 200, max = 20000))]
    max_tokens: Option<u32>,
    /// Replace secrets.
    pub(crate) redact: bool,
}

impl Bounds {
    /// The tokens of the answer.
    pub(crate) fn budget(&self) -> Result<Tokens, Error> {
        match self.max_tokens.unwrap_or(USUAL_TOKENS) {
            tokens @ LEAST_TOKENS..=MOST_TOKENS => Ok(Tokens::new(tokens)),
            _ => Err(Error::WrongUse(format!(
                "max_tokens has to be between {LEAST_TOKENS} and {MOST_TOKENS}"
            ))),
        }
    }
}

/// The JSON Schema of arguments, in the simple form that all clients understand: without references, formats of Rust,
/// and null.
pub(crate) fn schema<T: JsonSchema>() -> Object {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    simplify(&mut schema);
    let mut object = match schema.to_value() {
        Value::Object(object) => object,
        _ => Object::new(),
    };
    object.remove("description");
    object.insert("additionalProperties".to_owned(), json!(false));
    object
}

fn simplify(schema: &mut Schema) {
    for key in ["title", "format", "default"] {
        schema.remove(key);
    }
    // A count without a sign.
    if schema.get("minimum").is_some_and(|least| least == 0) {
        schema.remove("minimum");
    }
    // A comment is broken into lines for its reader.
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    // The list is described already.
    if let Some(Value::Object(items)) = schema.get_mut("items") {
        items.remove("description");
    }
    if let Some(Value::Array(choices)) = schema.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    transform_subschemas(&mut simplify, schema);
}

/// Reads the arguments of a tool.
pub(crate) fn read<T: DeserializeOwned>(
    tool: &str,
    schema: &Object,
    arguments: &Object,
) -> Result<T, Error> {
    let wrong = |message: String| Error::WrongUse(format!("{tool}: {message}"));
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, value) in arguments {
        let Some(property) = properties.and_then(|known| known.get(name)) else {
            let known = properties.into_iter().flat_map(Map::keys).cloned().collect::<Vec<_>>();
            let name = clip(name, 60);
            return Err(wrong(format!(
                "there is no argument {name:?} (known: {})",
                known.join(", ")
            )));
        };
        if value.as_str().is_some_and(|text| text.len() > LONGEST) {
            return Err(wrong(format!("{name} has more than {LONGEST} bytes")));
        }
        let is = match property.get("type").and_then(Value::as_str) {
            Some("string") => value.is_string(),
            Some("integer") => value.is_u64(),
            Some("boolean") => value.is_boolean(),
            Some("array") => value.is_array(),
            _ => true,
        };
        if let Some(kind) = property.get("type").filter(|_| !is && !value.is_null()) {
            let value = value.to_string();
            return Err(wrong(format!(
                "{name} has to be of type {kind}, not {}",
                clip(&value, 60)
            )));
        }
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let missing = required.filter_map(Value::as_str).find(|name| !arguments.contains_key(*name));
    if let Some(name) = missing {
        return Err(wrong(format!("the argument {name} is missing")));
    }
    let given = arguments.iter().filter(|(_, value)| !value.is_null());
    let given = given.map(|(name, value)| (name.clone(), value.clone())).collect();
    serde_json::from_value(Value::Object(given)).map_err(|error| wrong(error.to_string()))
}

/// The call of a tool as text: its name, and its arguments with these instead of their own.
pub(crate) fn call(tool: &str, arguments: &Object, instead: &[(&str, Value)]) -> String {
    let mut arguments = arguments.clone();
    arguments.retain(|_, value| !value.is_null());
    for (name, value) in instead {
        arguments.insert((*name).to_owned(), value.clone());
    }
    let mut text = tool.to_owned() + " ";
    for c in Value::Object(arguments).to_string().chars() {
        match neutralise(c.encode_utf8(&mut [0; 4])).chars().eq([c]) {
            true => text.push(c),
            // JSON has its own way to make a character visible.
            false => {
                let units = c.encode_utf16(&mut [0; 2]).to_vec();
                text.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_one_visible_line_that_can_be_repeated() {
        let arguments = json!({ "text": "a\n\u{2028}\u{202e}\u{e0041}é確", "none": null });
        let Value::Object(arguments) = arguments else { unreachable!() };
        let call = call("search", &arguments, &[("offset", json!(3))]);
        assert_eq!(call, r#"search {"offset":3,"text":"a\n\u2028\u202e\udb40\udc41é確"}"#);
        let repeated: Object = serde_json::from_str(call.trim_start_matches("search ")).unwrap();
        assert_eq!(repeated["text"], arguments["text"]);
    }
}
