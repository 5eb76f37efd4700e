//! Antigravity: the transcripts of conversations of Google's editor and of its command line program,
//! `~/.gemini/antigravity-cli/brain/<id>/.system_generated/logs/transcript_full.jsonl`.
//!
//! The conversations themselves, `conversations/<id>.db` and the encrypted `.pb` of older releases, have no public form. A
//! transcript states no tokens. Its shorter form, `transcript.jsonl`, is another name of it, and is read where it is alone.

mod source;

use std::sync::Arc;

use foldline::source::Opener;

pub use self::source::AntigravitySource;
use crate::{
    action::*,
    dialect::messages::{MessageFormat, Messages},
    prelude::*,
};

/// A conversation.
pub type Antigravity = Messages<AntigravityFormat>;

/// The format of transcripts.
#[derive(Clone, Copy, Debug, Default)]
pub struct AntigravityFormat;

impl MessageFormat for AntigravityFormat {
    const FORMAT: Format = Format::new("antigravity", "Antigravity, transcripts", "antigravity")
        .with_homes(&[
            "~/.gemini/antigravity/brain/*/.system_generated/logs",
            "~/.gemini/antigravity-ide/brain/*/.system_generated/logs",
            "~/.gemini/antigravity-cli/brain/*/.system_generated/logs",
        ]);
    const KEY: &'static str = "antigravity";

    fn openers() -> Vec<Arc<dyn Opener>> {
        vec![Arc::new(AntigravitySource)]
    }

    fn action(name: &str, given: &mut Object<'_>, cwd: Option<&str>) -> Option<Titled> {
        let mut path = |name| take_path(given, name, cwd);
        let action = match name {
            "run_command" => command_run(given.text("CommandLine")),
            "view_file" => file_read(path("AbsolutePath")),
            "list_dir" => file_read(path("DirectoryPath")),
            "write_to_file" => file_write(path("TargetFile"), given.text("CodeContent")),
            "replace_file_content" => {
                let names = ["TargetContent", "ReplacementContent"];
                file_replacement(path("TargetFile"), given, names)
            }
            "grep_search" => search(given.text("Query")),
            "search_web" => search(given.text("query").or_else(|| given.text("Query"))),
            "read_url_content" => web_fetch(given.text("Url")),
            _ => return None,
        };
        // What the view says of the call.
        given.ignore(&["toolAction", "toolSummary"]);
        Some(action)
    }
}
