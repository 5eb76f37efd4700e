//! The command with which an agent resumes a session.

use foldline_domain::{Session, Text};

/// Agents, and the command that resumes a session; the id follows.
const COMMANDS: [(&str, &str); 7] = [
    ("claude-code", "claude --resume"),
    ("codex", "codex resume"),
    ("droid", "droid --resume"),
    ("cursor", "cursor-agent --resume"),
    ("opencode", "opencode --session"),
    ("copilot", "copilot --resume"),
    ("amp", "amp threads continue"),
];

/// The command for a shell, in the session's folder; `None` if the agent has none, or the id is unknown.
pub(super) fn command(session: &Session) -> Option<String> {
    let agent = session.agent.as_ref()?.decode();
    let (_, command) = COMMANDS.into_iter().find(|(name, _)| *name == agent)?;
    let resume = format!("{command} {}", quoted(session.session_id.as_ref()?.as_str()));
    // Of some sessions only the name of the folder is known.
    let folder = session.cwd.as_ref().map(Text::decode).filter(|cwd| cwd.contains(['/', '\\']));
    Some(match folder {
        Some(folder) => format!("cd {} && {resume}", quoted(&folder)),
        None => resume,
    })
}

/// A word for a shell. A log can contain any text.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    match !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        true => word.to_owned(),
        // Nothing ends the line early, and nothing begins an option.
        false => {
            let word: String = word.chars().filter(|c| !c.is_control()).collect();
            let start = if word.starts_with('-') { "./" } else { "" };
            format!("'{start}{}'", word.replace('\'', r"'\''"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_resumed_in_its_folder() {
        let session = |agent: &str, id: &str, cwd: Option<&str>| {
            command(&Session {
                agent: Some(agent.into()),
                session_id: Some(id.into()),
                cwd: cwd.map(Text::from),
                ..Session::default()
            })
        };
        let resumed = session("claude-code", "0f-1", Some("/srv/ada's x"));
        assert_eq!(resumed.as_deref(), Some(r"cd '/srv/ada'\''s x' && claude --resume 0f-1"));
        assert_eq!(session("codex", "a", None).as_deref(), Some("codex resume a"));
        assert_eq!(session("codex", "$(rm x)\n", None).as_deref(), Some("codex resume '$(rm x)'"));
        assert_eq!(session("codex", "--all", None).as_deref(), Some("codex resume './--all'"));
        assert_eq!(session("gemini", "a", None), None);
    }
}
