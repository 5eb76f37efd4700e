//! The program `foldline`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    foldline_cli::Program::builtin().run()
}
