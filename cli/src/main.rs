//! The program `foldline`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

// Not in the library, so that programs based on it can choose their allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    foldline_cli::Program::builtin().run()
}
