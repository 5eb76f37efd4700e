//! [`Output`]: standard output, through a pager on a terminal.

use std::{
    env,
    io::{self, BufWriter, Stdout, Write},
    process::{Child, Command, Stdio},
};

use terminal_size::terminal_size;

use crate::terminal::Terminal;

/// The output of a long text.
pub(crate) enum Output {
    Stdout(Stdout),
    Pager(Child),
    /// The beginning of a text, which may fit on the screen.
    Begun(Screenful),
}

/// What fits on the screen above the next prompt.
pub(crate) struct Screenful {
    text: Vec<u8>,
    columns: usize,
    /// The rows that are left, and the bytes of the last line.
    rows: usize,
    line: usize,
}

impl Output {
    /// If standard output is a terminal, and the text is longer than its screen, the pager of the environment, or else
    /// `less`; otherwise standard output itself.
    pub(crate) fn paged(terminal: Terminal) -> Self {
        match terminal_size() {
            Some((columns, rows)) if terminal.is_paged() => Self::Begun(Screenful {
                text: Vec::new(),
                columns: usize::from(columns.0).max(1),
                rows: usize::from(rows.0),
                line: 0,
            }),
            _ => Self::stdout(),
        }
    }

    /// The same, before a list that is drawn over it: `less` waits for the user even if the text fits on the screen.
    /// Also returns whether the pager waits.
    pub(crate) fn lasting(terminal: Terminal) -> (Self, bool) {
        if terminal.is_paged() { Self::through_pager(true) } else { (Self::stdout(), false) }
    }

    fn through_pager(is_lasting: bool) -> (Self, bool) {
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

    /// Writes what is buffered, and waits until the reader has finished.
    pub(crate) fn end(out: BufWriter<Self>) -> io::Result<()> {
        out.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
    }

    /// Waits until the reader has finished.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if let Self::Begun(begun) = &self {
            let mut out = io::stdout();
            return out.write_all(&begun.text).and_then(|()| out.flush());
        }
        let flushed = self.flush();
        if let Self::Pager(mut child) = self {
            drop(child.stdin.take());
            child.wait()?;
        }
        flushed
    }
}

impl Screenful {
    /// Whether these bytes also fit. A line that is wider than the screen needs several rows; what colours it counts as
    /// if it were shown.
    fn takes(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            self.line = if *byte == b'\n' { 0 } else { self.line + 1 };
            if *byte == b'\n' || self.line.is_multiple_of(self.columns) {
                self.rows = self.rows.saturating_sub(1);
            }
        }
        self.rows > 0
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::Begun(begun) => {
                if begun.takes(bytes) {
                    begun.text.extend_from_slice(bytes);
                    return Ok(bytes.len());
                }
                let begun = std::mem::take(&mut begun.text);
                *self = Self::through_pager(false).0;
                self.write_all(&begun)?;
                self.write(bytes)
            }
            Self::Pager(child) => match &mut child.stdin {
                Some(stdin) => stdin.write(bytes),
                None => Ok(bytes.len()),
            },
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::Begun(_) => Ok(()),
            Self::Pager(child) => child.stdin.as_mut().map_or(Ok(()), Write::flush),
        }
    }
}
