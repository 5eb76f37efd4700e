//! A fleet, with real brokers: `fleet/broker` starts them, and tests report if it cannot.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, dead_code, missing_docs)]

mod broker;
mod fleet;
mod init;
mod ledger;
// The program `foldline` as a child process. Some items are for other tests.
#[path = "../../cli/tests/logs/mod.rs"]
mod logs;
// The server of PostgreSQL, which is started at its first use.
#[path = "../../cli/tests/postgres/server.rs"]
mod postgres_server;
mod random;
mod ship;

use std::process::Command;

/// A command that runs the fleet's program.
fn foldline_fleet() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foldline-fleet"));
    command.env_remove("RUST_LOG").env_remove("FOLDLINE_DB").env("TZ", "UTC");
    // The logs and the database of the user who runs the tests are neither read nor written.
    command.env("HOME", "/nonexistent").env_remove("XDG_DATA_HOME").env_remove("XDG_CONFIG_HOME");
    command.env_remove("CODEX_HOME").env_remove("CLAUDE_CONFIG_DIR");
    command
}
