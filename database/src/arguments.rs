//! What a call was made with, as it is searched.

use foldline_domain::{ActionType, Extra};
use foldline_json::decode_body;

/// The part of the metadata of an entry that is searched.
#[derive(Default, serde::Deserialize)]
struct Searched {
    #[serde(default)]
    extra: Extra,
}

/// What a call was made with, as text: the [arguments](ActionType::arguments) of its action, and the fields of the log that the
/// action has no place for, without the escapes of JSON. Both are rows' values in JSON.
pub(crate) fn arguments(action: &str, title: &str, metadata: Option<&str>) -> Option<String> {
    let action = serde_json::from_str::<ActionType>(action).ok()?;
    let known = metadata.and_then(|json| serde_json::from_str::<Searched>(json).ok());
    let extra = known.unwrap_or_default().extra;
    let fields = extra.iter().map(|(name, value)| format!("{name}: {}", decode_body(value.get())));
    let texts: Vec<String> = action.arguments(title).into_iter().chain(fields).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
