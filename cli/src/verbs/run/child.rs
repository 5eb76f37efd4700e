//! [`Child`]: the agent's process, its output, and its signals.

use std::{
    ffi::OsString,
    io::{self, IsTerminal, Read, Write},
    process::{self, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    thread,
    time::Duration,
};

use crate::error::Error;

/// The capacity of the queue of pieces: the agent waits when it is full.
const AHEAD: usize = 64;

/// The size of a piece in bytes.
const PIECE: usize = 64 << 10;

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
}

impl Child {
    /// Starts an agent. With `tap`, standard input and output are passed on to it and from it.
    pub(super) fn start(command: &[OsString], tap: bool) -> Result<Self, Error> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(Error::WrongUse("name a command".to_owned()));
        };
        let mut command = Command::new(program);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        if tap {
            command.stdin(Stdio::piped());
        }
        let mut child = command.spawn().map_err(|error| Error::Start {
            command: program.to_string_lossy().into_owned(),
            error,
        })?;
        let (say, heard) = sync_channel(AHEAD);
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
            let say = say.clone();
            thread::spawn(move || {
                pass(stdout, |piece| {
                    listen(&say, Stream::Output, piece) && (!tap || write_out(piece).is_ok())
                });
            });
        }
        if let Some(stderr) = child.stderr.take() {
            thread::spawn(move || {
                pass(stderr, |piece| {
                    if tap {
                        let _ = io::stderr().write_all(piece);
                    }
                    listen(&say, Stream::Error, piece)
                });
            });
        }
        forward_signals(&child)?;
        Ok(Self { child, heard })
    }

    /// The next output, until the agent has ended. `patience` is the longest time to wait; the default is no limit.
    pub(super) fn heard(&self, patience: Option<Duration>) -> Result<Heard, RecvTimeoutError> {
        match patience {
            Some(patience) => self.heard.recv_timeout(patience),
            None => self.heard.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
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
