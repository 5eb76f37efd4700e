//! Maps calls to [`ActionType`](foldline_domain::ActionType)s. Input without a field in the action is kept in the
//! entry's metadata.

use crate::{action::*, command_line::command_line, prelude::*};

/// Maps a call of this kind, or a request of the agent to its client.
pub(super) fn map(
    kind: &str,
    title: Option<Text>,
    input: Option<Raw<'_>>,
    cwd: Option<&str>,
) -> MappedCall {
    let words = title.as_ref().map(Text::decode).unwrap_or_default();
    let mut call = MappedCall::of(kind, input, || true, |given| action(kind, &words, given, cwd));
    call.title = title.unwrap_or(call.title);
    call
}

/// The action of a call. The title, which is agent-specific, replaces missing input.
fn action(kind: &str, title: &str, given: &mut Object<'_>, cwd: Option<&str>) -> Option<Titled> {
    let first = |given: &mut Object<'_>, names: &[&str]| {
        let text = names.iter().find_map(|name| given.take(name, command_line));
        text.unwrap_or_else(|| title.trim_matches('`').into())
    };
    let path = |given: &mut Object<'_>| {
        let path = first(given, &["file_path", "filePath", "path", "abs_path"]);
        files::relative_path(&path.decode(), cwd)
    };
    Some(match kind {
        "read" | "fs/read_text_file" => file_read(path(given)),
        "fs/write_text_file" => file_write(path(given), given.text("content")),
        // The content of the call has the changes.
        "edit" | "move" => file_edit(path(given), Vec::new()),
        "delete" => {
            let path = path(given);
            file_edit(path.clone(), vec![FileChange::Delete { path }])
        }
        "execute" | "terminal/create" => {
            let mut line = first(given, &["command", "cmd"]);
            if let Some(words) = given.take("args", command_line) {
                line.push(&format!(" {words}").into());
            }
            command_run(Some(line))
        }
        "search" => search(Some(first(given, &["pattern", "query"]))),
        "fetch" => web_fetch(Some(first(given, &["url"]))),
        "switch_mode" if given.has("plan") => plan_presentation(given.text("plan")),
        _ => return None,
    })
}
