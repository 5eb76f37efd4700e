//! Zed: the threads of its agent, in the database `threads/threads.db`. Times of messages are not stated.

#[cfg(feature = "databases")]
mod source;

use std::sync::Arc;

use foldline::source::Opener;

#[cfg(feature = "databases")]
pub use self::source::ZedSource;
use crate::{
    action::*,
    dialect::messages::{MessageFormat, Messages},
    prelude::*,
};

/// A thread. Its tokens are those of all requests, of which the document names only some.
pub type Zed = Messages<ZedFormat>;

/// The format of threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct ZedFormat;

impl MessageFormat for ZedFormat {
    const FORMAT: Format = Format::new("zed", "Zed, threads", "zed").with_homes(&[
        "${XDG_DATA_HOME:-~/.local/share}/zed/threads",
        "~/.var/app/dev.zed.Zed/data/zed/threads",
        "~/Library/Application Support/Zed/threads",
        "${LOCALAPPDATA:-~/AppData/Local}/Zed/threads",
    ]);
    const KEY: &'static str = "zedThread";

    fn openers() -> Vec<Arc<dyn Opener>> {
        vec![
            #[cfg(feature = "databases")]
            Arc::new(ZedSource),
        ]
    }

    fn action(name: &str, given: &mut Object<'_>, cwd: Option<&str>) -> Option<Titled> {
        Some(match name {
            "terminal" => command_run(given.text("command")),
            "read_file" | "list_directory" => file_read(take_path(given, "path", cwd)),
            "delete_path" => {
                let path = take_path(given, "path", cwd);
                file_edit(path.clone(), vec![FileChange::Delete { path }])
            }
            "edit_file" | "streaming_edit_file" | "write_file" if given.has("content") => {
                file_write(take_path(given, "path", cwd), given.text("content"))
            }
            "edit_file" | "streaming_edit_file" => {
                let path = take_path(given, "path", cwd);
                let read =
                    |edit: &mut Object<'_>| take_replacement(edit, ["old_text", "new_text"], &path);
                let changes = take_changes(given, "edits", read).unwrap_or_default();
                file_edit(path, changes)
            }
            "grep" => search(given.text("regex")),
            "find_path" => search(given.text("glob")),
            "web_search" => search(given.text("query")),
            "fetch" => web_fetch(given.text("url")),
            _ => return None,
        })
    }
}
