//! Runs a [`Program`]: parses its command line, and dispatches to the verbs.

use std::{
    ffi::OsString,
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use clap::{Command as ClapCommand, CommandFactory, FromArgMatches, builder::PossibleValue};
use foldline_agents::DynExecutor;
use foldline_render::terminal::neutralise;

use crate::{
    args::{Args, Command},
    choice, complete, config,
    error::Error,
    exit, help,
    logging::log_to_stderr,
    options::width,
    panics::report_in_one_line,
    program::Program,
    sink::SinkKind,
    verbs::{
        allowed, audit_key, blocks, check, commands, compare, diff, doctor, errors, export, files,
        forget, homes, ingest, keep, pick, prompts, prune, query, replay, report, resume, run,
        search, sessions, shell, show, statusline, task, today, tools, usage, verify,
    },
};

impl Program {
    /// Runs the program with the arguments of the process. Panics are reported in one line.
    pub fn run(&self) -> ExitCode {
        report_in_one_line();
        self.run_with(std::env::args_os())
    }

    /// Runs the program with these arguments; the first is the name of the program.
    ///
    /// Wrong arguments, `--help` and `--version` end the process.
    pub fn run_with<I>(&self, arguments: I) -> ExitCode
    where
        I: IntoIterator,
        I::Item: Into<OsString> + Clone,
    {
        log_to_stderr();
        let run = || {
            let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
            if arguments.get(1..).is_some_and(|words| words == ["help", "exit-codes"]) {
                let mut out = io::stdout();
                out.write_all(help::exit_codes(width(None)).as_bytes()).map_err(Error::Output)?;
                return Ok(exit::SUCCESS);
            }
            if complete::answer(self, &arguments) {
                return Ok(exit::SUCCESS);
            }
            let Some(arguments) = choice::chosen(self, &self.command(), arguments)? else {
                return Ok(exit::CANCELLED);
            };
            let args = self.parsed(arguments)?;
            let program = Self { terminal: args.terminal, ..self.clone() };
            program.run_command(args.command.as_ref())
        };
        match run() {
            Ok(code) => ExitCode::from(code),
            Err(error) => {
                error.report();
                ExitCode::from(error.exit_code())
            }
        }
    }

    /// The values of these arguments, with the defaults of the configuration. Wrong arguments end the process.
    pub(crate) fn parsed<A: Into<OsString> + Clone>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Args, Error> {
        let command = config::with_defaults(self.command())?;
        // clap itself exits with 2 on wrong use, and with 0 after --help.
        let matches = command
            .try_get_matches_from(arguments)
            .unwrap_or_else(|error| wrong_use(&help::with_verbs(error)));
        Ok(Args::from_arg_matches(&matches).unwrap_or_else(|error| wrong_use(&error)))
    }

    pub(crate) fn run_command(&self, command: Option<&Command>) -> Result<u8, Error> {
        match command.unwrap_or(&Command::Today) {
            Command::Today => today::run(self),
            Command::Sessions(args) => sessions::run(self, args),
            Command::Pick(args) => pick::run(self, args),
            Command::Usage(args) => usage::run(self, args),
            Command::Blocks(args) => blocks::run(self, args),
            Command::Statusline(args) => statusline::run(self, args),
            Command::Show(args) => show::run(self, args),
            Command::Resume(args) => resume::run(self, args),
            Command::Report(args) => report::run(self, args),
            Command::Diff(args) => diff::run(self, args),
            Command::Prompts(args) => prompts::run(self, args),
            Command::Commands(args) => commands::run(self, args),
            Command::Allowed(args) => allowed::run(self, args),
            Command::Compare(args) => compare::run(self, args),
            Command::Search(args) => search::run(self, args),
            Command::Files(args) => files::run(self, args),
            Command::Tools(args) => tools::run(self, args),
            Command::Errors(args) => errors::run(self, args),
            Command::Query(args) => query::run(self, args),
            Command::Task(args) => task::run(self, args),
            Command::Run(args) => run::run(self, args),
            Command::Replay(args) => replay::run(self, args),
            Command::Export(args) => export::run(self, args),
            Command::Ingest(args) => ingest::run(self, args),
            Command::Prune(args) => prune::run(args),
            Command::Forget(args) => forget::run(self, args),
            Command::Keep(args) => keep::run(self, args),
            #[cfg(feature = "otlp")]
            Command::Push(args) => crate::verbs::push::run(self, args),
            #[cfg(feature = "serve")]
            Command::Serve(args) => crate::serve::run(self, args),
            #[cfg(feature = "serve")]
            Command::Schema(args) => crate::verbs::schema::run(args),
            #[cfg(feature = "mcp")]
            Command::Mcp(args) => crate::mcp::run(self, args),
            #[cfg(not(feature = "mcp"))]
            Command::Mcp(_) => Err(Error::WrongUse(
                "this program was built without answers for agents: build it with --features mcp"
                    .to_owned(),
            )),
            Command::Homes => homes::run(self),
            Command::Doctor(args) => doctor::run(self, args),
            Command::Verify(args) => verify::run(self, args),
            Command::Check(args) => check::run(args),
            Command::AuditKey(args) => audit_key::run(args),
            Command::Completions(args) => shell::completions(args),
            Command::Man(args) => shell::man(self.command(), args),
        }
    }

    /// The command line, with the names of the registered executors and outputs.
    pub(crate) fn command(&self) -> ClapCommand {
        let names = || self.registry.iter().map(DynExecutor::format);
        let executors = || {
            let named = names().map(|format| PossibleValue::new(format.name).help(format.title));
            let auto = PossibleValue::new("auto").help("Detection by the first lines");
            std::iter::once(auto).chain(named).collect::<Vec<_>>()
        };
        let outputs = || {
            let named = |kind: &SinkKind| PossibleValue::new(kind.name).help(kind.about);
            self.sinks.iter().map(named).collect::<Vec<_>>()
        };
        let executor = |verb: ClapCommand| {
            verb.mut_arg("executor", |arg| {
                arg.value_parser(executors()).hide_possible_values(false)
            })
        };
        choice::with_option(help::with_ends(Args::command()))
            .mut_subcommand("replay", |verb| {
                executor(verb).mut_arg("format", |arg| arg.value_parser(outputs()))
            })
            .mut_subcommand("run", |verb| {
                let verb = executor(verb).mut_arg("format", |arg| arg.value_parser(outputs()));
                // Without a server, there are no clients.
                #[cfg(feature = "serve")]
                let verb = ["token", "hosts", "origins"]
                    .into_iter()
                    .fold(verb, |verb, option| verb.mut_arg(option, |arg| arg.requires("address")));
                verb
            })
            .mut_subcommand("export", executor)
            .mut_subcommand("ingest", executor)
    }
}

/// Ends the process as clap does, which echoes what was typed: what would control a terminal is neutralised.
fn wrong_use(error: &clap::Error) -> ! {
    if !error.use_stderr() {
        error.exit()
    }
    let text = error.render();
    let shown = match io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        // With colours, unless what was typed has control characters.
        true if neutralise(&text.to_string()) == text.to_string() => text.ansi().to_string(),
        _ => neutralise(&text.to_string()).into_owned(),
    };
    // As all messages of the program begin.
    eprint!("{}", shown.replacen("error:", "foldline:", 1));
    std::process::exit(error.exit_code())
}
