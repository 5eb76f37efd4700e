//! Failed calls and reported errors.

use clap::Args;
use foldline_database::query::{FoundEntry, SessionName};

use crate::{
    answer::{
        AskArgs, Kind, Listing, answer, find,
        paragraphs::{Paragraph, Paragraphs},
        visible,
    },
    error::Error,
    program::Program,
};

/// The options of `foldline errors`.
#[derive(Debug, Args)]
pub(crate) struct ErrorsArgs {
    /// Only of this session and its sub-agents: latest, latest~2, an id or its first characters, a number, or a part of a title
    session: Option<String>,

    #[command(flatten)]
    ask: AskArgs,
}

/// `foldline errors`.
pub(crate) fn run(program: &Program, args: &ErrorsArgs) -> Result<u8, Error> {
    answer(program, &args.ask, |asked| {
        let mut filter = asked.filter.clone();
        if let Some(name) = &args.session {
            let session = find::session(&*asked.database, name, asked.filters)?;
            filter.name = Some(SessionName::TreeOf(session));
        }
        let rows = asked.database.failures(&filter)?;
        let order = |_: &[FoundEntry]| "the latest first".to_owned();
        Ok(Paragraphs { rows, none: "nothing failed", order, paragraph, listing })
    })
}

/// Calls that failed and errors that were reported, as rows.
pub(super) fn listing(failures: &[FoundEntry]) -> Listing {
    let listing = Listing::of(
        "at task session index tool status exit_code what content title session_id",
        failures,
    )
    .with_kind(Kind::Text, &["task", "tool"])
    .renamed("content", "message");
    listing
        .without_in_tables("task session status title")
        .showing_behind("at", "session_id")
        .dropping("exit_code at session_id what tool index")
}

fn paragraph(failure: &FoundEntry) -> Paragraph<'_> {
    /// Lines of a message that are shown.
    const LINES: usize = 6;
    let text = |text: &Option<String>| visible(text.as_deref().unwrap_or_default());
    let said = match &failure.tool {
        None => "error".to_owned(),
        Some(_) => format!("{} {}", text(&failure.tool), text(&failure.status)),
    };
    let exit_code = failure.exit_code.filter(|code| *code != 0);
    let exit_code = exit_code.map_or(String::new(), |code| format!(" (exit {code})"));
    let lines = |value: &Option<String>, most| {
        let value = text(value);
        let lines = value.lines().filter(|line| !line.trim().is_empty()).take(most);
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    Paragraph {
        at: failure.at,
        what: said + &exit_code,
        session: (failure.session, &failure.session_id),
        index: failure.index,
        title: &failure.title,
        lines: [lines(&failure.what, 1), lines(&failure.content, LINES)].concat(),
    }
}
