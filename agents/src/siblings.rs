//! Logs of several files, of which each is a name of the same log: their common status, and what their documents state.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use foldline::{ledger::Identity, source::status};
use serde_json::{Map, Value};

/// The status of a log of several files: that of one of them, with the sizes and times of the others, of which some may be
/// missing.
pub(crate) fn joined_status(
    mut whole: Identity,
    others: impl IntoIterator<Item = PathBuf>,
) -> Identity {
    for path in others {
        let Ok(file) = fs::metadata(path) else { continue };
        let file = status(&file);
        whole.size = whole.size.saturating_add(file.size);
        whole.modified = whole.modified.max(file.modified);
        whole.changed = whole.changed.zip(file.changed).map(|(one, other)| one.max(other));
    }
    whole
}

/// The document in a file; `None` if it cannot be read.
pub(crate) fn document(path: &Path) -> Option<Value> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// The objects in the lines of a file, and the text from the first line that is not one. A missing file has none.
pub(crate) fn objects(path: &Path) -> io::Result<(Vec<Value>, String)> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Default::default()),
        bytes => bytes?,
    };
    let text = String::from_utf8_lossy(&bytes);
    let (mut values, mut rest) = (Vec::new(), &*text);
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        match serde_json::from_str(line) {
            Ok(value @ Value::Object(_)) => values.push(value),
            _ if line.trim().is_empty() => {}
            _ => break,
        }
        rest = after;
    }
    Ok((values, rest.to_owned()))
}

/// The stated facts; the first statement of each counts.
pub(crate) fn facts(stated: &[(&str, &Value)]) -> Map<String, Value> {
    let mut facts = Map::new();
    for (name, value) in stated.iter().filter(|(_, value)| !value.is_null()) {
        facts.entry(*name).or_insert_with(|| (*value).clone());
    }
    facts
}

/// The list or the object that a JSON text states, or the value itself.
#[cfg(feature = "databases")]
pub(crate) fn parsed(stored: &Value) -> Value {
    match stored.as_str().and_then(|text| serde_json::from_str(text).ok()) {
        Some(parsed @ (Value::Array(_) | Value::Object(_))) => parsed,
        _ => stored.clone(),
    }
}

/// The name of a folder, if it is text.
pub(crate) fn folder_name(folder: Option<&Path>) -> Option<String> {
    Some(folder?.file_name()?.to_str()?.to_owned())
}
