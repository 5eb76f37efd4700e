//! `foldline prompts`: what a person wrote, over all sessions.

use clap::Args;
use foldline_database::query::{SessionFilter, SessionName};

use crate::{
    answer::{AskArgs, Kind, Listing, answer, find},
    error::Error,
    program::Program,
};

/// The options of `foldline prompts`.
#[derive(Debug, Args)]
pub(crate) struct PromptsArgs {
    /// Only of this session: latest, latest~2, an id or its first characters, a number, or a part of a title
    session: Option<String>,

    #[command(flatten)]
    ask: AskArgs,
}

/// `foldline prompts`.
pub(crate) fn run(program: &Program, args: &PromptsArgs) -> Result<u8, Error> {
    answer(program, &args.ask, |asked| {
        let mut filter = asked.filter.clone();
        if let Some(name) = &args.session {
            let number = find::session(&*asked.database, name, asked.filters)?;
            filter = SessionFilter { name: Some(SessionName::from(number)), ..filter };
        }
        let prompts = asked.database.prompts(&filter)?;
        let listing = Listing::of("at session session_id project index text", &prompts);
        let listing = listing.with_kind(Kind::Minute, &["at"]).with_kind(Kind::Subject, &["text"]);
        Ok(listing.without_in_tables("session index").dropping("project session_id at"))
    })
}
