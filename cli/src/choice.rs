//! `-i`: the session of a verb is chosen from a list.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command, error::ErrorKind};

use crate::{error::Error, program::Program, verbs::pick};

/// The arguments that name a session.
const SESSIONS: [&str; 5] = ["session", "sessions", "about", "a", "b"];

/// Of these, one that takes a single name and has a default, which a choice replaces.
const SINGLE: [&str; 2] = ["session", "about"];

const OPTION: &str = "interactive";

/// The command line, with `-i` for each verb that takes a session.
pub(crate) fn with_option(command: Command) -> Command {
    command.mut_subcommands(|verb| {
        let has = |id: &str| verb.get_arguments().any(|argument| argument.get_id() == id);
        if !SESSIONS.iter().any(|id| has(id)) {
            return verb;
        }
        let single = SINGLE.into_iter().filter(|id| has(id)).collect::<Vec<_>>();
        let option = Arg::new(OPTION).short('i').long(OPTION).action(ArgAction::SetTrue);
        let option = option.help("Choose the session from a list on the whole screen");
        verb.arg(option.conflicts_with_all(single))
    })
}

/// The arguments with the sessions that were chosen in place of `-i`; `None` if nothing was chosen.
pub(crate) fn chosen(
    program: &Program,
    command: &Command,
    mut arguments: Vec<OsString>,
) -> Result<Option<Vec<OsString>>, Error> {
    let mut options = arguments.iter().take_while(|word| *word != "--");
    let Some(at) = options.position(|word| word == "-i" || word == "--interactive") else {
        return Ok(Some(arguments));
    };
    let parsed = |arguments: &[OsString]| command.clone().try_get_matches_from(arguments);
    let lacks = |arguments: &[OsString]| {
        parsed(arguments).is_err_and(|error| error.kind() == ErrorKind::MissingRequiredArgument)
    };
    // What is wrong is said before the list appears.
    if parsed(&arguments).is_err() && !lacks(&arguments) {
        return Ok(Some(arguments));
    }
    let lenient = command.clone().ignore_errors(true).try_get_matches_from(&arguments);
    let Some((_, verb)) = lenient.ok().and_then(|mut matches| matches.remove_subcommand()) else {
        return Ok(Some(arguments));
    };
    if !matches!(verb.try_get_one::<bool>(OPTION), Ok(Some(true))) {
        return Ok(Some(arguments));
    }
    arguments.remove(at);
    // A comparison is of two sessions.
    for at in [at, at + 1] {
        let Some(name) = pick::choose(program, &verb)? else { return Ok(None) };
        arguments.insert(at, name.into());
        if !lacks(&arguments) {
            break;
        }
    }
    Ok(Some(arguments))
}
