//! The program `foldline`, with which tests compare what a fleet stores.

use std::process::ExitCode;

fn main() -> ExitCode {
    foldline_cli::Program::builtin().run()
}
