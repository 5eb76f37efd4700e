//! `foldline mcp --print-config`: what to paste into the configuration of a client.

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::recipe::command_line;

/// A client of the Model Context Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Cursor
    Cursor,
    /// Gemini CLI
    Gemini,
}

impl Client {
    /// Where to paste it.
    pub(super) fn place(self) -> &'static str {
        match self {
            Self::Claude => "run this command in a shell",
            Self::Codex => "add this to ~/.codex/config.toml",
            Self::Cursor => "add this to ~/.cursor/mcp.json",
            Self::Gemini => "add this to ~/.gemini/settings.json",
        }
    }

    /// What to paste, for a server that this command starts.
    pub(super) fn config(self, program: &str, arguments: &[String]) -> String {
        match self {
            Self::Claude => {
                let command = command_line(program, arguments);
                format!("claude mcp add --scope user foldline -- {command}\n")
            }
            // A string of JSON is a string of TOML.
            Self::Codex => format!(
                "[mcp_servers.foldline]\ncommand = {}\nargs = {}\n",
                Value::from(program),
                Value::from(arguments)
            ),
            Self::Cursor | Self::Gemini => {
                let server = json!({ "command": program, "args": arguments });
                format!("{:#}\n", json!({ "mcpServers": { "foldline": server } }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_any_character_can_be_pasted() {
        let path = "/opt/it's \"mine\"/foldline";
        let arguments = ["mcp".to_owned()];
        let claude = Client::Claude.config(path, &arguments);
        assert_eq!(
            claude,
            "claude mcp add --scope user foldline -- '/opt/it'\\''s \"mine\"/foldline' mcp\n"
        );
        let codex: toml::Table = Client::Codex.config(path, &arguments).parse().unwrap();
        assert_eq!(codex["mcp_servers"]["foldline"]["command"].as_str(), Some(path));
        let cursor: Value = serde_json::from_str(&Client::Cursor.config(path, &arguments)).unwrap();
        assert_eq!(cursor["mcpServers"]["foldline"]["command"], path);
        assert_eq!(cursor["mcpServers"]["foldline"]["args"], json!(["mcp"]));
    }
}
