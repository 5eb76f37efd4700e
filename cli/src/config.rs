//! Defaults of options from a configuration file.
//!
//! `foldline/config.toml` in the user's folder for configuration, or the file that `FOLDLINE_CONFIG` names. A key
//! is the long name of an option, and applies to every verb with this option; in a table, only to the verb of
//! that name. An option of all verbs, such as `color`, has one default for all:
//!
//! ```toml
//! timezone = "Europe/Paris"
//! no-refresh = true
//!
//! [show]
//! no-thinking = true
//! only = ["prompts", "answers"]
//! ```
//!
//! The command line takes precedence.

use std::{env, fs, io, path::PathBuf};

use clap::{Arg, ArgAction, Command};
use etcetera::BaseStrategy;
use toml::{Table, Value};

use crate::error::Error;

/// The command line with the defaults of the file, if there is one.
pub(super) fn with_defaults(command: Command) -> Result<Command, Error> {
    let Some(path) = path() else { return Ok(command) };
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if is_absent(&error) => return Ok(command),
        Err(error) => return Err(Error::Input { path, error }),
    };
    let wrong = |message: String| Error::WrongUse(format!("{}: {message}", path.display()));
    let table: Table = text.parse().map_err(|error: toml::de::Error| wrong(error.to_string()))?;
    apply(command, table).map_err(wrong)
}

/// Whether the error means that there is no file. A file without read permission counts as absent, since the
/// home directory may belong to another user, unless `FOLDLINE_CONFIG` names it.
fn is_absent(error: &io::Error) -> bool {
    let is_named = env::var_os("FOLDLINE_CONFIG").is_some();
    match error.kind() {
        io::ErrorKind::NotFound => true,
        io::ErrorKind::PermissionDenied => !is_named,
        _ => false,
    }
}

fn path() -> Option<PathBuf> {
    if let Some(path) = env::var_os("FOLDLINE_CONFIG").filter(|path| !path.is_empty()) {
        return Some(path.into());
    }
    let strategy = etcetera::choose_base_strategy().ok()?;
    Some(strategy.config_dir().join("foldline/config.toml"))
}

fn apply(mut command: Command, table: Table) -> Result<Command, String> {
    for (key, value) in table {
        let verbs: Vec<_> =
            command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
        match value {
            Value::Table(options) if verbs.contains(&key) => {
                for (option, value) in options {
                    if !has(&command, &key, &option) {
                        return Err(format!("foldline {key} has no option --{option}"));
                    }
                    command = set(command, &key, &option, &value)?;
                }
            }
            Value::Table(_) => return Err(format!("there is no verb {key}")),
            value if command.get_arguments().any(|argument| is(argument, &key)) => {
                let values = values(&value)?;
                command = command.mut_args(|argument| defaulted(argument, &key, &values));
            }
            value => {
                if !verbs.iter().any(|verb| has(&command, verb, &key)) {
                    return Err(format!("there is no option --{key}"));
                }
                for verb in verbs {
                    // An option of this name may have another type for some verbs.
                    if has(&command, &verb, &key) && accepts(&command, &verb, &key, &value) {
                        command = set(command, &verb, &key, &value)?;
                    }
                }
            }
        }
    }
    Ok(command)
}

fn has(command: &Command, verb: &str, option: &str) -> bool {
    find(command, verb, option).is_some()
}

fn find<'c>(command: &'c Command, verb: &str, option: &str) -> Option<&'c Arg> {
    let mut arguments = command.find_subcommand(verb)?.get_arguments();
    arguments.find(|argument| is(argument, option))
}

/// Whether the option accepts the value. Only options with a list of values are checked.
fn accepts(command: &Command, verb: &str, option: &str, value: &Value) -> bool {
    let possible = find(command, verb, option).map(Arg::get_possible_values).unwrap_or_default();
    let is_possible = |text: &str| possible.iter().any(|value| value.matches(text, false));
    value.as_str().is_none_or(|text| possible.is_empty() || is_possible(text))
}

fn set(command: Command, verb: &str, option: &str, value: &Value) -> Result<Command, String> {
    if option == "db" {
        return Err("the default database is named by the variable FOLDLINE_DB".to_owned());
    }
    let values = values(value)?;
    Ok(command.mut_subcommand(verb, |verb| {
        verb.mut_args(|argument| defaulted(argument, option, &values))
    }))
}

fn is(argument: &Arg, option: &str) -> bool {
    argument.get_long() == Some(option)
}

/// The argument, with these default values if it is this option.
fn defaulted(argument: Arg, option: &str, values: &[String]) -> Arg {
    match argument.get_action() {
        ArgAction::SetTrue | ArgAction::Set | ArgAction::Append if is(&argument, option) => {
            argument.default_values(values.to_vec())
        }
        _ => argument,
    }
}

fn values(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Array(values) => values.iter().map(text).collect(),
        value => Ok(vec![text(value)?]),
    }
}

fn text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        Value::Boolean(value) => Ok(value.to_string()),
        value => Err(format!("a {} is not a value of an option", value.type_str())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use clap::CommandFactory;

    fn apply_text(text: &str) -> Result<Command, String> {
        apply(Args::command(), text.parse().unwrap())
    }

    fn value(command: &Command, arguments: &[&str], id: &str) -> Vec<String> {
        let matches = command.clone().get_matches_from(arguments);
        let (_, verb) = matches.subcommand().unwrap();
        let values = verb.get_raw(id).into_iter().flatten();
        values.map(|value| value.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn the_command_line_comes_before_the_file_and_the_verb_before_all_verbs() {
        let command = apply_text("limit = 7\n[sessions]\nlimit = 9\n").unwrap();
        assert_eq!(value(&command, &["foldline", "tools"], "limit"), ["7"]);
        assert_eq!(value(&command, &["foldline", "sessions"], "limit"), ["9"]);
        assert_eq!(value(&command, &["foldline", "sessions", "-n", "3"], "limit"), ["3"]);
        let command = apply_text("no-pager = true\ncolor = 'always'").unwrap();
        assert_eq!(value(&command, &["foldline", "tools"], "color"), ["always"]);
        assert_eq!(value(&command, &["foldline", "tools", "--color", "never"], "color"), ["never"]);
        assert_eq!(value(&command, &["foldline", "show"], "no_pager"), ["true"]);
        let command =
            apply_text("[show]\nno-thinking = true\nonly = [\"tools\", \"errors\"]").unwrap();
        assert_eq!(value(&command, &["foldline", "show"], "no_thinking"), ["true"]);
        assert_eq!(value(&command, &["foldline", "show"], "only"), ["tools", "errors"]);
        assert_eq!(
            value(&command, &["foldline", "show", "--only", "prompts"], "only"),
            ["prompts"]
        );
    }

    #[test]
    fn what_is_not_known_is_said() {
        for (text, part) in [
            ("colour = 1", "no option --colour"),
            ("[shows]\nfull = true", "no verb shows"),
            ("[show]\nsign = 1", "foldline show has no option --sign"),
            ("limit = 1979-05-27", "a datetime is not a value"),
            ("db = 'x'", "FOLDLINE_DB"),
        ] {
            let error = apply_text(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
