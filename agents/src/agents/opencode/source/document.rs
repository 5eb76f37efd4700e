//! A session as `opencode export` prints it, in lines.

use std::io::{self, Write};

use serde_json::{Map, Value};

/// A session with more than this is several lines, each of which has its facts and a part of its messages, so that
/// memory stays bounded.
const LINE: usize = 4 << 20;

/// The lines of a session that is being written.
pub(super) struct Document<'o> {
    out: &'o mut dyn Write,
    /// The beginning of each line.
    head: String,
    /// The length of the messages in the current line.
    length: usize,
}

impl<'o> Document<'o> {
    /// Begins a session with these facts.
    pub(super) fn begin(info: &Value, out: &'o mut dyn Write) -> io::Result<Self> {
        let head = format!("{{\"info\":{info},\"messages\":[");
        out.write_all(head.as_bytes())?;
        Ok(Self { out, head, length: 0 })
    }

    /// Writes a message with its parts.
    pub(super) fn message(
        &mut self,
        info: Map<String, Value>,
        parts: Vec<Value>,
    ) -> io::Result<()> {
        let fields = [("info", Value::Object(info)), ("parts", Value::Array(parts))];
        let fields = fields.map(|(name, value)| (name.to_owned(), value));
        let text = Value::Object(fields.into_iter().collect()).to_string();
        if self.length > 0 && self.length + text.len() > LINE {
            write!(self.out, "]}}\n{}", self.head)?;
            self.length = 0;
        }
        let comma = if self.length > 0 { "," } else { "" };
        write!(self.out, "{comma}{text}")?;
        self.length += text.len();
        Ok(())
    }

    /// Ends the session.
    pub(super) fn end(self) -> io::Result<()> {
        self.out.write_all(b"]}\n")
    }
}

/// A JSON object; any other text is the value of a field that no release writes, and which is reported.
pub(super) fn object(text: &str) -> Map<String, Value> {
    serde_json::from_str(text)
        .unwrap_or_else(|_| Map::from_iter([("data".to_owned(), Value::from(text))]))
}
