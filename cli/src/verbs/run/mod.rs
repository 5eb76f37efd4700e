//! `foldline run`: runs an agent as a child process, and shows its session while it works.
//!
//! The output of the agent is first written to a log, and then reduced; the log is complete at any moment, and
//! its replay gives the same events. Lines of standard error are records of the log, see
//! [`aside`](foldline_agents::aside).

mod args;
mod child;
mod consumers;
mod files;
mod interleaver;
mod rows;
mod session;
mod watched;

use std::{io, path::Path, process::ExitStatus, sync::mpsc::RecvTimeoutError};

use foldline::files::owner_only;
use foldline_render::transcript::TranscriptStyle;

pub(crate) use self::args::RunArgs;
use self::{
    child::{Child, Stream, now},
    consumers::Consumers,
    files::Files,
    interleaver::Interleaver,
    session::Session,
    watched::Watched,
};
use crate::{
    error::Error,
    exit,
    options::width,
    program::Program,
    say::say,
    sink::{AgentSpan, SinkOptions, Sinks},
};

/// Runs an agent to its end. Returns the agent's exit code, unless the agent succeeded and another step failed.
pub(crate) fn run(program: &Program, args: &RunArgs) -> Result<u8, Error> {
    let files = Files::of(args)?;
    let (sinks, span) = sinks(program, args)?;
    let mut consumers = Consumers { sinks, ..Consumers::default() };
    let watched = Watched::start(program, args, &files, &mut consumers)?;
    let log = files.create_log()?;
    let mut child = Child::start(&args.command, args.tap, span.as_ref())?;
    let mut session = Session::new(program, args, consumers, watched.rows.as_ref(), log);
    let mut weave = Interleaver::default();
    let mut listened = Ok(());
    // A failure must not stop the agent, so its output is still read.
    loop {
        let (stream, piece) = match child.heard(session.patience()) {
            Ok(heard) => heard,
            Err(RecvTimeoutError::Timeout) => {
                session.collect();
                session.close_idle();
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let mut log = Vec::with_capacity(piece.len());
        match stream {
            Stream::Error => weave.stderr(&piece, now(), &mut log),
            Stream::Input | Stream::Output => weave.stdout(&piece, &mut log),
        }
        listened = listened.and_then(|()| session.push(stream, piece, &log));
    }
    if child.is_held() {
        say("the agent has ended; another process holds its output, which is not read any further");
    }
    let mut rest = Vec::new();
    weave.finish(now(), &mut rest);
    let ended = child.wait().map_err(Error::Output)?;
    if let Some(span) = &span {
        span.end(now(), ended.code());
    }
    let format = session.format().unwrap_or(&args.executor);
    let finished = listened.and_then(|()| session.finish(&rest));
    let stored = watched.finish(format);
    let code = exit_code(ended);
    if code == exit::SUCCESS {
        return finished.and_then(|code| if code == exit::SUCCESS { stored } else { Ok(code) });
    }
    for failed in [finished, stored] {
        let _ = failed.inspect_err(Error::report);
    }
    Ok(code)
}

/// The agent's exit code, or the shell's exit code for the signal that ended it.
fn exit_code(ended: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&ended) {
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    ended.code().map_or(exit::FAILED, |code| u8::try_from(code).unwrap_or(exit::FAILED))
}

/// The sinks, and the span of the agent if one of them is of OpenTelemetry.
fn sinks(program: &Program, args: &RunArgs) -> Result<(Sinks, Option<AgentSpan>), Error> {
    let style = TranscriptStyle::new(width(args.width)).with_color(program.terminal.is_coloured());
    let log = args.log.as_deref().unwrap_or(Path::new("-")).display().to_string();
    let options = SinkOptions::new(style, log, args.content).running()?;
    let main = (!args.tap).then(|| program.sinks.require(&args.format)).transpose()?;
    let further = args.sinks.iter().map(|sink| sink.choose(&program.sinks, &options));
    let further = further.collect::<Result<Vec<_>, Error>>()?;
    args.content.check(main.into_iter().chain(further.iter().map(|sink| sink.kind)))?;
    let has_spans =
        main.into_iter().chain(further.iter().map(|it| it.kind)).any(|it| it.can_be_sent);
    let mut sinks = Sinks::default();
    if let Some(main) = main {
        sinks.add(main, &options, Box::new(io::stdout()));
    }
    for sink in &further {
        sinks.add_further(sink, &options, |path| {
            let mut open = owner_only();
            let file = open.write(true).create(true).truncate(true).open(path);
            file.map_err(|error| Error::output(path, &error))
        })?;
    }
    Ok((sinks, options.agent.filter(|_| has_spans)))
}
