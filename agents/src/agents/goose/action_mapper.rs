//! Maps Goose's tools to [`ActionType`](foldline_domain::ActionType)s. The name of a tool begins with that of its
//! extension: `developer__shell`.

use crate::{action::*, prelude::*};

/// Maps a call of the tool `name`.
pub(super) fn map(name: &str, arguments: Option<Raw<'_>>, cwd: Option<&str>) -> MappedCall {
    // Any extension may have tools.
    MappedCall::of(name, arguments, || name.contains("__"), |given| action(name, given, cwd))
}

/// The action of a call; `None` if it has no separate one.
fn action(name: &str, given: &mut Object<'_>, cwd: Option<&str>) -> Option<Titled> {
    Some(match name.strip_prefix("developer__").unwrap_or(name) {
        "shell" => command_run(given.text("command")),
        "write" => file_write(take_path(given, "path", cwd), given.text("content")),
        _ => return None,
    })
}
