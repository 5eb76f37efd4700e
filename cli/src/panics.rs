//! Panics are reported in one line. Text of a log may be part of their message.

use std::{backtrace::Backtrace, panic};

use foldline::transduce::Fault;
use foldline_render::terminal::neutralise_line;

use crate::say::say;

/// Replaces the report of the standard library, which has a backtrace if `RUST_BACKTRACE` is set: a panic of a
/// consumer or an executor ends only that part of the run, and is reported there too. `RUST_BACKTRACE=full` still
/// prints the backtrace.
pub(crate) fn report_in_one_line() {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|place| format!(" at {place}")).unwrap_or_default();
        let payload = panic.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let fault = Fault::Panicked(text.unwrap_or("no message").to_owned());
        say(&neutralise_line(&format!("{fault}{place}")));
        if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value == "full") {
            say(&Backtrace::force_capture().to_string());
        }
    }));
}

#[cfg(test)]
mod tests {
    use std::{
        panic::catch_unwind,
        process::{Command, Stdio},
    };

    use super::*;

    /// Set in the child process, which panics.
    const CHILD: &str = "FOLDLINE_TEST_CHILD";

    #[test]
    fn a_caught_panic_is_one_line() {
        if std::env::var_os(CHILD).is_some() {
            report_in_one_line();
            let caught = catch_unwind(|| panic!("one\x1b[2J\ntwo"));
            assert!(caught.is_err());
            return;
        }
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "panics::tests::a_caught_panic_is_one_line", "--nocapture"]);
        child.env(CHILD, "1").env("RUST_BACKTRACE", "1").stdout(Stdio::null());
        let output = child.output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(
            error.starts_with("foldline: it panicked: one") && error.contains("panics.rs:"),
            "{error}"
        );
        assert!(!error.contains('\x1b'), "{error}");
    }
}
