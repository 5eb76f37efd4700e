//! Hermes Agent: the sessions in its database, `~/.hermes/state.db`, one for each profile. The files of older
//! releases, `~/.hermes/sessions/<id>.jsonl`, have the same messages, and one witness. A session that the database has too is
//! read from there.
//!
//! Tokens are those of a whole session, as stated: whether the input includes cached input is not. A session that was
//! compacted continues in another one, of which it is the parent. That a message states the folder, which newer releases
//! state of the session, has one witness.

#[cfg(feature = "databases")]
mod source;

use std::sync::Arc;

use foldline::source::Opener;

#[cfg(feature = "databases")]
pub use self::source::HermesSource;
use crate::{
    action::*,
    dialect::messages::{MessageFormat, Messages},
    prelude::*,
};

/// A session of Hermes.
pub type Hermes = Messages<HermesFormat>;

/// The format of sessions.
#[derive(Clone, Copy, Debug, Default)]
pub struct HermesFormat;

impl MessageFormat for HermesFormat {
    const FORMAT: Format = Format::new("hermes", "Hermes Agent, sessions", "hermes").with_homes(&[
        "${HERMES_HOME:-~/.hermes}/state.db",
        "${HERMES_HOME:-~/.hermes}/profiles/*/state.db",
        "${HERMES_HOME:-~/.hermes}/sessions",
        "${HERMES_HOME:-~/.hermes}/profiles/*/sessions",
    ]);
    const KEY: &'static str = "hermesSession";

    fn openers() -> Vec<Arc<dyn Opener>> {
        vec![
            #[cfg(feature = "databases")]
            Arc::new(HermesSource),
        ]
    }

    fn action(name: &str, given: &mut Object<'_>, cwd: Option<&str>) -> Option<Titled> {
        Some(match name {
            "terminal" => command_run(given.text("command")),
            "read_file" => file_read(take_path(given, "path", cwd)),
            "write_file" => file_write(take_path(given, "path", cwd), given.text("content")),
            "search_files" => search(given.text("pattern")),
            "web_search" => search(given.text("query")),
            _ => return None,
        })
    }
}
