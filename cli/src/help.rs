//! The end of help texts: examples, the environment, and a reference to the exit codes.

use clap::{
    Command, Error,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::wrap::wrap;

/// The output of `foldline help exit-codes`.
pub(super) fn exit_codes(width: usize) -> String {
    let code = |(code, text): &(&str, &str)| wrap(&format!("  {code:<3}  {text}"), width, 7) + "\n";
    let codes: String = EXIT_CODES.iter().map(code).collect();
    let end = "run ends with the exit code of its command, or with 128 plus the number of the signal that ended it.";
    format!("Exit codes:\n{codes}{}\n", wrap(end, width, 0))
}

const EXIT_CODES: [(&str, &str); 8] = [
    ("0", "success"),
    (
        "1",
        "failure: a file cannot be read or written, a checkpoint does not fit, verify found a problem in a \
         trail, a collector did not take everything, or a database that was read is damaged",
    ),
    ("2", "wrong use, or a file that is not a log of a known format"),
    ("3", "read to the end, but with malformed lines or unknown records (only with --strict)"),
    ("4", "no task, session or file has that name"),
    ("126", "the command of run or resume cannot be executed"),
    ("127", "the command of run or resume does not exist"),
    ("130", "pick --print ended without a choice"),
];

const ENVIRONMENT: &str = "\
Environment:
  FOLDLINE_DB        default database
  FOLDLINE_CONFIG    file of default options
  FOLDLINE_PAGER     pager of show [default: PAGER, else less]; cat for none
  CLAUDE_CONFIG_DIR  folder of Claude Code
  CODEX_HOME         folder of Codex
  XDG_DATA_HOME      data folder, of the default database
  XDG_CONFIG_HOME    configuration folder, of the default options
  OTEL_..            collector of --sink otlp (OTEL_EXPORTER_OTLP_ENDPOINT, ..)
  COLUMNS            width without a terminal
  NO_COLOR           disables colours, unless --color always is given
  TZ                 default time zone
  RUST_LOG           log filter for standard error, such as foldline=debug

Exit codes: foldline help exit-codes";

/// Two examples of each verb.
const EXAMPLES: &[(&str, [&str; 2])] = &[
    ("homes", ["foldline homes", "foldline homes --help"]),
    ("foldline", ["foldline sessions --since \"this week\"", "foldline usage --by session"]),
    (
        "sessions",
        ["foldline sessions --project shop", "foldline sessions --sort cost --since 2026-01"],
    ),
    (
        "usage",
        ["foldline usage --by month", "foldline usage --by session,model --since \"last week\""],
    ),
    ("pick", ["foldline pick", "foldline resume \"$(foldline pick --print)\""]),
    ("blocks", ["foldline blocks --active", "foldline blocks --token-limit max"]),
    ("statusline", ["foldline statusline", "foldline statusline --print-config"]),
    ("show", ["foldline show", "foldline show latest --follow"]),
    ("resume", ["foldline resume", "foldline resume --project . --print"]),
    ("report", ["foldline report", "foldline report TASK-12 --format md --redact"]),
    ("diff", ["foldline diff", "foldline diff latest~1 --stat"]),
    ("prompts", ["foldline prompts --since today", "foldline prompts latest -f json"]),
    ("commands", ["foldline commands --since 7d", "foldline commands --list --destructive"]),
    ("allowed", ["foldline allowed", "foldline allowed everything --since 30d"]),
    ("compare", ["foldline compare latest~1 latest", "foldline compare aaaa bbbb -f json"]),
    ("search", ["foldline search migration", "foldline search '\"access denied\"' --since 7d"]),
    ("files", ["foldline files --changed --since today", "foldline files src/main.rs"]),
    ("tools", ["foldline tools --sort failed", "foldline tools --agent codex --since 2026-01"]),
    ("errors", ["foldline errors --since today", "foldline errors --project shop -n 20"]),
    ("task", ["foldline task list", "foldline task show TASK-12"]),
    ("query", ["foldline query schema", "foldline query sql 'SELECT count(*) FROM sessions'"]),
    (
        "run",
        [
            "foldline run -- claude -p 'Fix the test' --output-format stream-json --verbose",
            "foldline run --log run.jsonl -- codex exec --json 'Fix the test'",
        ],
    ),
    ("replay", ["foldline replay latest --speed 10x", "foldline replay --format events log.jsonl"]),
    (
        "export",
        [
            "foldline export latest --redact --preview",
            "foldline export --all --since 'last week' --out site",
        ],
    ),
    ("ingest", ["foldline ingest", "foldline ingest logs --db team.db --task-from dir"]),
    (
        "prune",
        [
            "foldline prune --older-than 90d --dry-run",
            "foldline prune --larger-than 10GB --compact",
        ],
    ),
    ("forget", ["foldline forget latest", "foldline forget --project shop --before 90d --dry-run"]),
    ("keep", ["foldline keep on", "foldline keep status --db team.db"]),
    (
        "push",
        [
            "foldline push https://team.example --token-file token",
            "foldline push --follow https://team.example --token-file token",
        ],
    ),
    ("serve", ["foldline serve", "foldline serve --db team.db --receive machines"]),
    ("schema", ["foldline schema", "foldline schema -f typescript"]),
    ("mcp", ["foldline mcp --print-config claude", "foldline mcp --redact --print-config codex"]),
    ("doctor", ["foldline doctor", "foldline doctor log.jsonl --strict"]),
    (
        "verify",
        [
            "foldline verify trail.jsonl --source log.jsonl",
            "foldline verify trail.jsonl --key key.pub",
        ],
    ),
    ("check", ["foldline check", "foldline check --repair"]),
    ("audit-key", ["foldline audit-key key", "foldline ingest --audit trail.jsonl --sign key"]),
    ("completions", ["foldline completions bash", "foldline completions fish"]),
    ("man", ["foldline man", "foldline man man1"]),
];

/// Words that users type, and the verbs that they mean.
const ALIASES: &[(&str, &[&str])] = &[
    ("changes", &["diff", "files"]),
    ("cat", &["show"]),
    ("continue", &["resume"]),
    ("cost", &["usage"]),
    ("costs", &["usage"]),
    ("find", &["search"]),
    ("grep", &["search"]),
    ("history", &["prompts", "sessions"]),
    ("last", &["show", "resume"]),
    ("choose", &["pick"]),
    ("list", &["sessions"]),
    ("log", &["show"]),
    ("logs", &["sessions", "show"]),
    ("ls", &["sessions"]),
    ("patch", &["diff"]),
    ("ps", &["sessions"]),
    ("stat", &["usage", "tools"]),
    ("stats", &["usage", "tools"]),
    ("status", &["sessions", "blocks"]),
    ("tail", &["show"]),
    ("tokens", &["usage"]),
    ("view", &["show"]),
    ("web", &["serve"]),
];

/// The error for an unknown verb, with the verbs that it may mean.
pub(super) fn with_verbs(mut error: Error) -> Error {
    let unknown = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(unknown)) if error.kind() == ErrorKind::InvalidSubcommand => {
            unknown
        }
        _ => return error,
    };
    if let Some((_, verbs)) = ALIASES.iter().find(|(alias, _)| alias == unknown) {
        let verbs = verbs.iter().map(|verb| (*verb).to_owned()).collect();
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(verbs));
    }
    error
}

/// The command line, with the end of each help text.
pub(super) fn with_ends(command: Command) -> Command {
    with_end(command).mut_subcommands(with_end)
}

fn with_end(command: Command) -> Command {
    let examples = EXAMPLES.iter().find(|(verb, _)| *verb == command.get_name());
    let examples = examples.map_or_else(String::new, |(_, [first, second])| {
        format!("Examples:\n  {first}\n  {second}\n\n")
    });
    let note = command.get_after_help().map_or_else(String::new, |note| format!("{note}\n\n"));
    command.after_help(format!("{note}{examples}{ENVIRONMENT}"))
}
