//! [`Child`]: the agent's process, its output, and its signals.

use std::{
    ffi::OsString,
    io::{self, Read, Write},
    path::Path,
    process::{self, Command, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};

use foldline_domain::Timestamp;

use crate::{error::Error, sink::AgentSpan};

/// The capacity of the queue of pieces: the agent waits when it is full.
const AHEAD: usize = 64;

/// The size of a piece in bytes.
const PIECE: usize = 64 << 10;

/// The interval of checks whether the agent has ended.
const OFTEN: Duration = Duration::from_millis(300);

/// More pieces than the agent can have printed and not been heard when it ended: those in the queue, and in two pipes
/// of at most 1 MiB.
const LAST: usize = AHEAD + 2 * ((1 << 20) / PIECE) + 4;

/// The stream of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// Standard input of the agent.
    Input,
    /// Standard output of the agent.
    Output,
    /// Standard error of the agent.
    Error,
}

/// A piece with its stream.
pub(super) type Heard = (Stream, Vec<u8>);

/// A running agent.
pub(super) struct Child {
    child: process::Child,
    heard: Receiver<Heard>,
    /// The number of pieces that are being passed on. Each further owner is a thread that reads an output of the agent.
    outputs: Arc<AtomicUsize>,
    /// The number of pieces that may still be heard, once the agent has ended.
    last: Option<usize>,
}

impl Child {
    /// Starts an agent, in this span. With `tap`, standard input and output are passed on to it and from it.
    pub(super) fn start(
        command: &[OsString],
        tap: bool,
        span: Option<&AgentSpan>,
    ) -> Result<Self, Error> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(Error::WrongUse("name a command".to_owned()));
        };
        let mut command = Command::new(program);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.envs(span.map(AgentSpan::variable));
        if tap {
            command.stdin(Stdio::piped());
        }
        let mut child = command.spawn().map_err(|error| Error::Start {
            command: program.to_string_lossy().into_owned(),
            error,
        })?;
        if let Some(span) = span {
            let executable = Path::new(program).file_name().unwrap_or(program);
            span.start(executable.to_string_lossy().into_owned(), child.id(), now());
        }
        let (say, heard) = sync_channel(AHEAD);
        let outputs = Arc::new(AtomicUsize::new(0));
        if let Some(mut stdin) = child.stdin.take() {
            let say = say.clone();
            // Ends with the process, since a thread that reads standard input cannot be woken. A piece is
            // recorded before it is passed on, so that its answer comes later in the log.
            thread::spawn(move || {
                pass(io::stdin(), |piece| {
                    listen(&say, Stream::Input, piece)
                        && stdin.write_all(piece).and_then(|()| stdin.flush()).is_ok()
                });
            });
        }
        if let Some(stdout) = child.stdout.take() {
            let (say, output) = (say.clone(), Arc::clone(&outputs));
            thread::spawn(move || {
                pass(stdout, |piece| {
                    output.fetch_add(1, Ordering::SeqCst);
                    let is_heard =
                        listen(&say, Stream::Output, piece) && (!tap || write_out(piece).is_ok());
                    output.fetch_sub(1, Ordering::SeqCst);
                    is_heard
                });
                drop(output);
            });
        }
        if let Some(stderr) = child.stderr.take() {
            let output = Arc::clone(&outputs);
            thread::spawn(move || {
                pass(stderr, |piece| {
                    output.fetch_add(1, Ordering::SeqCst);
                    if tap {
                        let _ = io::stderr().write_all(piece);
                    }
                    let is_heard = listen(&say, Stream::Error, piece);
                    output.fetch_sub(1, Ordering::SeqCst);
                    is_heard
                });
                drop(output);
            });
        }
        forward_signals(&child)?;
        Ok(Self { child, heard, outputs, last: None })
    }

    /// The next output, until the agent has ended; a process that it started may hold its output for longer.
    /// `patience` is the longest time to wait for it, if there is a limit.
    pub(super) fn heard(&mut self, patience: Option<Duration>) -> Result<Heard, RecvTimeoutError> {
        match &mut self.last {
            Some(0) => return Err(RecvTimeoutError::Disconnected),
            Some(last) => *last -= 1,
            None => self.last = self.child.try_wait().ok().flatten().map(|_| LAST),
        }
        let heard = self.heard.recv_timeout(patience.unwrap_or(OFTEN).min(OFTEN));
        // What the agent itself printed has been read by now, unless standard output is slow.
        let is_quiet = heard == Err(RecvTimeoutError::Timeout)
            && self.last.is_some()
            && self.outputs.load(Ordering::SeqCst) == 0;
        if is_quiet { Err(RecvTimeoutError::Disconnected) } else { heard }
    }

    /// Whether another process holds the output of the agent.
    pub(super) fn is_held(&self) -> bool {
        Arc::strong_count(&self.outputs) > 1
    }

    /// Waits until the agent has ended.
    pub(super) fn wait(mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }
}

fn listen(say: &SyncSender<Heard>, stream: Stream, piece: &[u8]) -> bool {
    say.send((stream, piece.to_vec())).is_ok()
}

fn write_out(piece: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(piece)?;
    out.flush()
}

/// Reads to the end, or until the receiver is dropped.
fn pass(mut from: impl Read, mut to: impl FnMut(&[u8]) -> bool) {
    let mut buffer = vec![0; PIECE];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => {
                if !buffer.get(..length).is_some_and(&mut to) {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Forwards signals to the agent: the program itself ends after the agent. A second Ctrl-C kills the agent.
#[cfg(unix)]
fn forward_signals(child: &process::Child) -> Result<(), Error> {
    use std::io::IsTerminal;

    use rustix::process::{Pid, Signal, kill_process};
    use signal_hook::{
        consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM},
        iterator::Signals,
    };

    let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM]).map_err(Error::Output)?;
    let agent = Pid::from_child(child);
    // A terminal also sends Ctrl-C to the agent.
    let has_terminal = io::stdin().is_terminal();
    thread::spawn(move || {
        let mut interrupted = 0;
        for signal in signals.forever() {
            let forwarded = match signal {
                SIGINT => {
                    interrupted += 1;
                    match interrupted {
                        1 if has_terminal => continue,
                        1 => Signal::INT,
                        2 => Signal::TERM,
                        _ => Signal::KILL,
                    }
                }
                SIGHUP => Signal::HUP,
                SIGQUIT => Signal::QUIT,
                _ => Signal::TERM,
            };
            // The agent may have ended already.
            let _ = kill_process(agent, forwarded);
        }
    });
    Ok(())
}

#[cfg(not(unix))]
fn forward_signals(_: &process::Child) -> Result<(), Error> {
    Ok(())
}

/// The moment of what happens to a child.
pub(super) fn now() -> Timestamp {
    Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
}
