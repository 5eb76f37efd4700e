//! [`Screen`]: the whole screen of a terminal, which is left at any end: a return, an error, a panic.

use std::{
    fs::File,
    io::{self, IsTerminal, Write},
    panic,
    sync::{Mutex, MutexGuard, Once, PoisonError},
    thread::{self, ThreadId},
};

use ratatui::{
    Frame, Terminal,
    backend::CrosstermBackend,
    crossterm::{
        cursor::Show,
        execute,
        style::{Attribute, SetAttribute},
        terminal::{
            Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
            enable_raw_mode,
        },
    },
};

use crate::error::Error;

/// The screen that is drawn on.
pub(super) struct Screen {
    out: File,
    terminal: Terminal<CrosstermBackend<Frames>>,
}

/// What leaves the screen, while it is drawn on.
static ENTERED: Mutex<Option<Entered>> = Mutex::new(None);

struct Entered {
    out: File,
    /// The thread that draws.
    thread: ThreadId,
    #[cfg(unix)]
    messages: messages::Held,
}

impl Screen {
    /// Refuses to work without a terminal.
    pub(super) fn check(is_stderr: bool) -> Result<(), Error> {
        let is_terminal =
            if is_stderr { io::stderr().is_terminal() } else { io::stdout().is_terminal() };
        if is_terminal && io::stdin().is_terminal() {
            return Ok(());
        }
        let message = "pick needs a terminal; without one, foldline sessions lists the sessions";
        Err(Error::WrongUse(message.to_owned()))
    }

    /// Takes the terminal of standard output, or of standard error if standard output is for a result.
    pub(super) fn enter(is_stderr: bool) -> Result<Self, Error> {
        static HOOK: Once = Once::new();
        HOOK.call_once(leave_at_panics);
        let entered = || {
            let out = stream(is_stderr)?;
            enter(out.try_clone()?)?;
            Ok(Self { terminal: terminal(&out)?, out })
        };
        entered().map_err(|error| {
            leave();
            Error::Output(error)
        })
    }

    /// Draws what has changed.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> Result<(), Error> {
        self.terminal.draw(draw).map_err(Error::Output).map(drop)
    }

    /// Leaves the screen to another program, and comes back.
    pub(super) fn lend<T>(&mut self, to: impl FnOnce() -> T) -> Result<T, Error> {
        leave();
        let lent = to();
        let entered = enter(self.out.try_clone().map_err(Error::Output)?);
        self.terminal = entered.and_then(|()| terminal(&self.out)).map_err(Error::Output)?;
        Ok(lent)
    }

    /// Puts a text on the clipboard, if the terminal allows it.
    pub(super) fn copy(&mut self, text: &str) -> Result<(), Error> {
        use base64::{Engine as _, engine::general_purpose::STANDARD};
        let sequence = format!("\x1b]52;c;{}\x07", STANDARD.encode(text));
        self.out.write_all(sequence.as_bytes()).map_err(Error::Output)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

/// A terminal with nothing on it.
fn terminal(out: &File) -> io::Result<Terminal<CrosstermBackend<Frames>>> {
    Terminal::new(CrosstermBackend::new(Frames { out: out.try_clone()?, frame: Vec::new() }))
}

fn entered() -> MutexGuard<'static, Option<Entered>> {
    ENTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn enter(mut out: File) -> io::Result<()> {
    enable_raw_mode()?;
    *entered() = Some(Entered {
        out: out.try_clone()?,
        thread: thread::current().id(),
        #[cfg(unix)]
        messages: messages::Held::new()?,
    });
    execute!(out, EnterAlternateScreen, Clear(ClearType::All))
}

/// Leaves the screen, if it is drawn on. Nothing can be done about a failure.
fn leave() {
    let Some(mut entered) = entered().take() else {
        let _ = disable_raw_mode();
        return;
    };
    let _ = execute!(entered.out, SetAttribute(Attribute::Reset), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    #[cfg(unix)]
    entered.messages.release();
}

/// A panic of the thread that draws leaves the screen before it is reported. One of another thread does not end the
/// program.
fn leave_at_panics() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let is_drawing =
            entered().as_ref().is_some_and(|entered| entered.thread == thread::current().id());
        if is_drawing {
            leave();
        }
        report(panic);
    }));
}

#[cfg(unix)]
fn stream(is_stderr: bool) -> io::Result<File> {
    use std::os::fd::AsFd;
    let (stdout, stderr) = (io::stdout(), io::stderr());
    let stream = if is_stderr { stderr.as_fd() } else { stdout.as_fd() };
    stream.try_clone_to_owned().map(File::from)
}

#[cfg(windows)]
fn stream(is_stderr: bool) -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    let (stdout, stderr) = (io::stdout(), io::stderr());
    let stream = if is_stderr { stderr.as_handle() } else { stdout.as_handle() };
    stream.try_clone_to_owned().map(File::from)
}

/// Writes each frame at once. One that a panic interrupted is not written.
struct Frames {
    out: File,
    frame: Vec<u8>,
}

impl Write for Frames {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.frame.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let frame = std::mem::take(&mut self.frame);
        if thread::panicking() { Ok(()) } else { self.out.write_all(&frame) }
    }
}

/// Messages of other threads on standard error, which would be written over the list.
#[cfg(unix)]
mod messages {
    use std::{
        collections::BTreeSet,
        fs::File,
        io::{self, Read, Seek, Write},
        os::fd::{AsFd, OwnedFd},
    };

    use rustix::stdio::dup2_stderr;

    /// Standard error in a file.
    pub(super) struct Held {
        file: File,
        stderr: OwnedFd,
    }

    impl Held {
        pub(super) fn new() -> io::Result<Self> {
            let stderr = io::stderr().as_fd().try_clone_to_owned()?;
            let file = tempfile::tempfile()?;
            dup2_stderr(&file)?;
            Ok(Self { file, stderr })
        }

        /// Writes the messages to standard error, each once.
        pub(super) fn release(&mut self) {
            let _ = dup2_stderr(&self.stderr);
            let mut bytes = Vec::new();
            let read = self.file.rewind().and_then(|()| self.file.read_to_end(&mut bytes));
            let mut written = BTreeSet::new();
            for line in bytes.split_inclusive(|byte| *byte == b'\n').filter(|_| read.is_ok()) {
                if written.insert(line) {
                    let _ = io::stderr().write_all(line);
                }
            }
        }
    }
}
