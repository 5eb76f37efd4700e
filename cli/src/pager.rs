//! [`Output`]: standard output, through a pager on a terminal.

use std::{
    env,
    io::{self, IsTerminal, Stdout, Write},
    process::{Child, Command, Stdio},
};

/// The output of a long text.
pub(crate) enum Output {
    Stdout(Stdout),
    Pager(Child),
}

impl Output {
    /// If standard output is a terminal, the pager of the environment, or else `less`; otherwise standard
    /// output itself.
    pub(crate) fn paged() -> Self {
        Self::through_pager(false).0
    }

    /// The same, before a list that is drawn over it: `less` waits for the user even if the text fits on the screen.
    /// Also returns whether the pager waits.
    pub(crate) fn lasting() -> (Self, bool) {
        Self::through_pager(true)
    }

    fn through_pager(is_lasting: bool) -> (Self, bool) {
        if !io::stdout().is_terminal() {
            return (Self::Stdout(io::stdout()), false);
        }
        let pager = env::var("FOLDLINE_PAGER").or_else(|_| env::var("PAGER")).ok();
        let pager = pager.as_deref().map_or("less", str::trim);
        let mut words = pager.split_whitespace();
        // `cat` disables the pager.
        let Some(program) = words.next().filter(|program| *program != "cat") else {
            return (Self::Stdout(io::stdout()), false);
        };
        let waits = is_lasting && program == "less";
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::piped());
        if env::var_os("LESS").is_none() {
            // Keeps colours, exits if the text fits on the screen, and does not clear the screen.
            command.env("LESS", if waits { "R" } else { "FRX" });
        }
        if waits {
            // Without those that make it exit by itself.
            command.args(["-+F", "-+E", "-+e"]);
        }
        match command.spawn() {
            Ok(child) => (Self::Pager(child), waits),
            Err(_) => (Self::Stdout(io::stdout()), false),
        }
    }

    pub(crate) fn stdout() -> Self {
        Self::Stdout(io::stdout())
    }

    /// Waits until the reader has finished.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let flushed = self.flush();
        if let Self::Pager(mut child) = self {
            drop(child.stdin.take());
            child.wait()?;
        }
        flushed
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::Pager(child) => match &mut child.stdin {
                Some(stdin) => stdin.write(bytes),
                None => Ok(bytes.len()),
            },
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::Pager(child) => child.stdin.as_mut().map_or(Ok(()), Write::flush),
        }
    }
}
