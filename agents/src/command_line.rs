//! Command lines in the form that a user would type.

use foldline_domain::Text;
use foldline_json::Raw;

use crate::wire::value;

/// A command line from a string or an argument list. A list that only starts a shell gives the shell's script; other
/// arguments are joined and quoted for a shell.
pub fn command_line(raw: Raw<'_>) -> Option<Text> {
    if let Some(line) = Text::from_raw(raw) {
        return Some(line);
    }
    let arguments: Vec<Raw<'_>> = value::elements(raw)?;
    let arguments: Vec<Text> = arguments.into_iter().map(Text::from_raw).collect::<Option<_>>()?;
    if let [shell, flag, script] = arguments.as_slice()
        && is_shell(&shell.decode())
        && ["-c", "-lc", "-Command", "/c"].contains(&&*flag.decode())
    {
        return Some(script.clone());
    }
    let quoted: Vec<_> = arguments.iter().map(|argument| quote(&argument.decode())).collect();
    Some(Text::from(quoted.join(" ")))
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    ["bash", "sh", "zsh", "dash", "fish", "pwsh", "powershell", "cmd"].contains(&name)
}

fn quote(argument: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,~^".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}
