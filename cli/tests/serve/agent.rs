//! An agent under `foldline run --serve`.
// Each test program uses its part.

use std::{
    io::Write,
    path::Path,
    process::{ChildStdin, Stdio},
};

use super::{
    client::{Server, until},
    logs::foldline,
};

/// An agent that prints given lines, and the server that shows it.
pub(crate) struct Run {
    pub(crate) server: Server,
    agent: ChildStdin,
}

impl Run {
    pub(crate) fn start(folder: &Path, options: &[&str]) -> Self {
        let mut command = foldline();
        command.current_dir(folder).env("HOME", folder).stdin(Stdio::piped()).stdout(Stdio::null());
        command.args(["run", "--serve", "127.0.0.1:0"]).args(options).args(["--", "cat"]);
        let mut server = Server::of(command);
        let agent = server.child.stdin.take().unwrap();
        Self { server, agent }
    }

    pub(crate) fn print(&mut self, lines: &str) {
        self.agent.write_all(lines.as_bytes()).unwrap();
    }

    /// Waits until the session can be asked for.
    pub(crate) fn is_there(&self) {
        until("the session is there", || {
            self.server.get("/api/sessions").body.contains("\"session\":\"session\"")
        });
    }

    /// The agent ends, and with it the server.
    pub(crate) fn end(self) -> Option<i32> {
        let Self { mut server, agent } = self;
        drop(agent);
        server.child.wait().unwrap().code()
    }
}
