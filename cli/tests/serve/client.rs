//! A server under test, and a client that does nothing on its own.
// Each test program uses its part.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use super::logs::{droid, foldline};

/// How long a test waits for what has to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server of the logs in a folder; it ends with the value.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: String,
    /// The link that was printed.
    pub(crate) link: String,
}

impl Server {
    pub(crate) fn start(logs: &Path, more: &[&str]) -> Self {
        Self::start_at("127.0.0.1:0", logs, more)
    }

    /// A server at a fixed address. Another program may use it for a moment.
    pub(crate) fn start_at(address: &str, logs: &Path, more: &[&str]) -> Self {
        let begun = Instant::now();
        loop {
            let mut command = foldline();
            // Measures the memory in use, not the memory that the allocator retains.
            command.env("MIMALLOC_PURGE_DELAY", "0");
            command.arg("serve").arg(logs).arg("--db").arg(logs.with_extension("db"));
            command.args(["--listen", address]).args(more);
            if let Some(server) = Self::listening(command) {
                return server;
            }
            assert!(begun.elapsed() < PATIENCE, "{address} is taken");
        }
    }

    /// A server that this command starts.
    pub(crate) fn of(command: Command) -> Self {
        Self::listening(command).expect("it listens")
    }

    /// A server, unless the command ends before it listens.
    pub(crate) fn listening(mut command: Command) -> Option<Self> {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        let mut lines = said.lines().map(Result::unwrap);
        let link = lines
            .find_map(|line| line.split_once("listening on ").map(|(_, link)| link.to_owned()));
        let Some(link) = link else {
            child.wait().unwrap();
            return None;
        };
        // Further output must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let address = link.split('/').nth(2).unwrap().to_owned();
        Some(Self { child, address, link })
    }

    /// The answer to a request with the usual `Host`.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[("Host", &self.address)])
    }

    /// The body of the answer, which has to be 200.
    pub(crate) fn body(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }

    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut connection = self.send(method, path, headers);
        let mut all = String::new();
        connection.read_to_string(&mut all).unwrap();
        let (head, body) = all.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    /// A stream of events, from the last one that the client has.
    pub(crate) fn events(&self, path: &str, last: Option<&str>) -> Events {
        let mut headers = vec![("Host", &*self.address)];
        headers.extend(last.map(|last| ("Last-Event-ID", last)));
        let mut connection = self.send("GET", path, &headers);
        let mut line = String::new();
        connection.read_line(&mut line).unwrap();
        assert!(line.contains(" 200 "), "{line}");
        while line != "\r\n" {
            line.clear();
            connection.read_line(&mut line).unwrap();
        }
        Events(connection)
    }

    /// HTTP 1.0: the response is not chunked, and ends with the connection.
    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> BufReader<TcpStream> {
        let mut connection = TcpStream::connect(&self.address).unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut request = format!("{method} {path} HTTP/1.0\r\n");
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        connection.write_all((request + "\r\n").as_bytes()).unwrap();
        BufReader::new(connection)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    /// In small letters.
    pub(crate) head: String,
    pub(crate) body: String,
}

/// A stream of server-sent events.
pub(crate) struct Events(BufReader<TcpStream>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) data: String,
}

impl Events {
    /// The data until the server ends the stream.
    pub(crate) fn rest(mut self) -> Vec<Event> {
        let mut rest = Vec::new();
        while !self.0.fill_buf().unwrap().is_empty() {
            rest.extend(self.next_within(PATIENCE));
        }
        rest
    }

    /// The next event.
    pub(crate) fn next(&mut self) -> Event {
        let begun = Instant::now();
        loop {
            assert!(begun.elapsed() < PATIENCE, "no event came");
            if let Some(event) = self.next_within(PATIENCE) {
                return event;
            }
        }
    }

    /// The next event, if one begins within this time, and no sign of life comes before it.
    pub(crate) fn next_within(&mut self, longest: Duration) -> Option<Event> {
        self.0.get_ref().set_read_timeout(Some(longest)).unwrap();
        if !matches!(self.0.fill_buf(), Ok([_, ..])) {
            return None;
        }
        self.0.get_ref().set_read_timeout(Some(PATIENCE)).unwrap();
        let mut event = Event::default();
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).unwrap();
            let line = line.trim_end_matches('\n');
            match line.split_once(':') {
                Some(("event", value)) => event.name = value.trim_start().to_owned(),
                Some(("id", value)) => event.id = value.trim_start().to_owned(),
                Some(("data", value)) => event.data += value.strip_prefix(' ').unwrap_or(value),
                _ if line.is_empty() => return (!event.name.is_empty()).then_some(event),
                _ => {}
            }
        }
    }

    /// The next event of this name.
    pub(crate) fn next_named(&mut self, name: &str) -> Event {
        std::iter::repeat_with(|| self.next()).find(|event| event.name == name).unwrap()
    }
}

/// Waits until something holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A folder of logs in a temporary folder, next to the database.
pub(crate) fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    std::fs::create_dir(&logs).unwrap();
    (folder, logs)
}

/// Adds to a log.
pub(crate) fn append(log: &Path, text: &str) {
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(log).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// A log in which every call was answered, and nothing has to be ended at its end.
pub(crate) fn answered(turns: u64, seed: u64) -> String {
    let log = droid("session", turns, seed);
    let is_answered = |line: &&str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let answer = "\"type\":\"tool_result\"";
        line["type"] != "tool_call"
            || log.lines().any(|other| {
                other.contains(answer) && other.contains(&format!("\"id\":{}", line["id"]))
            })
    };
    log.lines().filter(is_answered).flat_map(|line| [line, "\n"]).collect()
}
