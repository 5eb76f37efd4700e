//! The program `foldline`, for comparing its output with that of a fleet.

use std::process::ExitCode;

fn main() -> ExitCode {
    foldline_cli::Program::builtin().run()
}
