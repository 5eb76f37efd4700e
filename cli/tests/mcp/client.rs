//! A client of the Model Context Protocol over standard input and output, which does nothing on its own.

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

use super::logs::{foldline, stdout};

/// A running server, and its answers. It ends with the value.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    roots: Vec<String>,
    requests: u64,
    /// The answer to the first request.
    pub(crate) info: Value,
}

/// What a tool answered.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

impl Client {
    /// A client in a folder, with roots if there are any.
    pub(crate) fn start(folder: &Path, roots: &[&str], arguments: &[&str]) -> Self {
        let mut command = foldline();
        command.arg("mcp").args(arguments).current_dir(folder);
        Self::of_command(command, roots)
    }

    /// A client in the home directory of a user, whose agents have logs there.
    pub(crate) fn at_home(home: &Path) -> Self {
        let mut command = foldline();
        command.arg("mcp").env("HOME", home).current_dir("/");
        Self::of_command(command, &[])
    }

    /// A client of a database that has not begun.
    pub(crate) fn silent(database: &Path) -> Self {
        let mut command = foldline();
        command.arg("mcp").arg("--db").arg(database).current_dir("/");
        Self::spawn(command, &[])
    }

    fn of_command(command: Command, roots: &[&str]) -> Self {
        let mut client = Self::spawn(command, roots);
        let capabilities = if roots.is_empty() { json!({}) } else { json!({ "roots": {} }) };
        client.info = client.request(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities,
                     "clientInfo": { "name": "test", "version": "1" } }),
        );
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn spawn(mut command: Command, roots: &[&str]) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let roots = roots.iter().map(|root| (*root).to_owned()).collect::<Vec<_>>();
        Self { child, input, output, roots, requests: 0, info: Value::Null }
    }

    /// A client that asks a database about all projects.
    pub(crate) fn of(database: &Path) -> Self {
        Self::start(Path::new("/"), &[], &["--db", database.to_str().unwrap()])
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub(crate) fn send_line(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The next message of the server.
    pub(crate) fn next_message(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).expect("a message on each line")
    }

    /// The whole response to a request. Every line of the output has to be a message.
    pub(crate) fn response(&mut self, method: &str, parameters: &Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters });
        self.send(&request);
        loop {
            let message = self.next_message();
            assert_eq!(message["jsonrpc"], "2.0");
            if message["method"] == "roots/list" {
                let roots: Vec<_> = self.roots.iter().map(|root| json!({ "uri": root })).collect();
                let result = json!({ "roots": roots });
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
            } else if message["id"] == id {
                return message;
            }
        }
    }

    /// The result of a request, which has to succeed.
    pub(crate) fn request(&mut self, method: &str, parameters: &Value) -> Value {
        let mut response = self.response(method, parameters);
        assert!(response["error"].is_null(), "{method}: {response}");
        response["result"].take()
    }

    /// The answer of a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        let result = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        Answer { text, is_error: result["isError"] == true }
    }

    /// The text of an answer, which is no error.
    pub(crate) fn text(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.call(tool, arguments);
        assert!(!answer.is_error, "{tool} {arguments}: {}", answer.text);
        answer.text
    }

    /// The text of an error.
    pub(crate) fn error(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.call(tool, arguments);
        assert!(answer.is_error, "{tool} {arguments}: {}", answer.text);
        answer.text
    }

    /// Ends the input, and returns whether the server ended well.
    pub(crate) fn end(mut self) -> bool {
        self.input = None;
        self.child.wait().unwrap().success()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A database of the logs in a folder.
pub(crate) fn database(logs: &Path) -> PathBuf {
    let path = logs.with_extension("db");
    stdout(&["ingest", logs.to_str().unwrap(), "--db", path.to_str().unwrap()]);
    path
}

/// The call that the end of an answer names: its tool and arguments.
pub(crate) fn next(answer: &str) -> Option<(String, Value)> {
    let (_, call) = answer.lines().last()?.split_once("The next: ")?;
    let (tool, arguments) = call.split_once(' ')?;
    let parsed = serde_json::from_str(arguments);
    Some((tool.to_owned(), parsed.unwrap_or_else(|error| panic!("{error}: {answer}"))))
}

/// The lines of an answer that are text of logs, without their marks.
pub(crate) fn quoted(answer: &str) -> Vec<&str> {
    let lines = answer.lines().filter_map(|line| line.strip_prefix('>'));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect()
}
