//! Logging to standard error, selected by `RUST_LOG`.

use std::io::{self, Write};

use foldline_render::terminal::neutralise_line;
use tracing_subscriber::{Layer, filter::Targets, layer::SubscriberExt, util::SubscriberInitExt};

/// Logs events selected by `RUST_LOG` to standard error; without the variable, nothing.
pub fn log_to_stderr() {
    let Some(wanted) = std::env::var_os("RUST_LOG") else { return };
    let selected = match wanted.to_string_lossy().parse::<Targets>() {
        Ok(selected) => selected,
        Err(error) => {
            let shown = wanted.to_string_lossy();
            eprintln!("foldline: RUST_LOG={} is ignored: {error}", neutralise_line(&shown));
            return;
        }
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(|| Neutral(io::stderr()))
        // Colours could not be distinguished from control sequences in a log.
        .with_ansi(false);
    // Fails if the embedding program has already set a subscriber.
    let _ = tracing_subscriber::registry().with(lines.with_filter(selected)).try_init();
}

/// Writes each event as one line with neutralised control characters, since it may contain text of a log.
struct Neutral<W>(W);

impl<W: Write> Write for Neutral<W> {
    /// The subscriber writes an event at once.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let line = neutralise_line(text.strip_suffix('\n').unwrap_or(&text));
        self.0.write_all(format!("{line}\n").as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_event_is_one_line_that_acts_on_no_terminal() {
        let written = Shared::default();
        let to = written.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || Neutral(to.clone()))
            .with_ansi(false)
            .without_time()
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            let said = "a\u{1b}[2J\u{7}\u{8}\r\n2026 ERROR forged\u{7f}\u{9b}\u{202e}";
            let _span = tracing::info_span!("source", said).entered();
            tracing::info!(%said, debug = ?said, "{said}");
        });
        let written = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        let line = written.strip_suffix('\n').unwrap();
        assert!(line.contains("ERROR forged"), "{line:?}");
        assert!(!line.contains(|c: char| c.is_control() || c == '\u{202e}'), "{line:?}");
    }
}
