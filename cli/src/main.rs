//! The program `foldline`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

// Here, not in the library: a program that is built on that has the choice.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    foldline_cli::Program::builtin().run()
}
