//! A server and a machine, as the files of `packaging` start them.

use std::{
    fs,
    path::Path,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::commands::{of_service, of_unit, with};
use crate::{
    logs::{droid, foldline, signal},
    serve::client::Server,
};

const PATIENCE: Duration = Duration::from_secs(60);

const TOKEN: &str = "token-of-the-browsers";

/// A process that ends with the value.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a server with this command, and a machine that pushes with that of its unit, until the server lists the session
/// of the machine.
fn receives(folder: &Path, serve: &[String]) {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    for name in ["home/.factory/sessions", "config/foldline", "credentials"] {
        fs::create_dir_all(path(name)).unwrap();
    }
    fs::write(path("credentials/machines"), "box token-of-the-machine\n").unwrap();
    fs::write(path("credentials/token"), TOKEN).unwrap();
    fs::write(path("config/foldline/push.token"), "token-of-the-machine\n").unwrap();
    fs::write(path("home/.factory/sessions/one.jsonl"), droid("session-one", 3, 1)).unwrap();
    let mut command = foldline();
    command.args(serve);
    let server = Server::of(command);
    assert!(!server.link.contains("token"), "{}", server.link);

    let url = format!("http://{}", server.address);
    let push = of_unit("user/foldline-push");
    assert_eq!(push[0], "/usr/bin/foldline");
    let push = with(push, &[("%E", &path("config")), ("${FOLDLINE_SERVER}", &url)]);
    let mut command = foldline();
    command.args(&push[1..]).env("HOME", path("home")).stderr(Stdio::null());
    let mut push = Ends(command.spawn().unwrap());

    let bearer = format!("Bearer {TOKEN}");
    let ask = |path: &str| {
        let headers = [("Host", &*server.address), ("Authorization", &bearer)];
        server.ask("GET", path, &headers)
    };
    let begun = Instant::now();
    while !ask("/api/sessions").body.contains("session-one") {
        assert!(begun.elapsed() < PATIENCE, "{}", ask("/api/sessions").body);
        thread::sleep(Duration::from_millis(100));
    }
    assert!(ask("/metrics").body.contains("foldline_sessions_total"));
    assert_eq!(server.get("/api/sessions").status, 401);
    signal("TERM", push.0.id());
    assert!(push.0.wait().unwrap().success());
}

#[test]
fn the_units_are_a_server_that_receives_and_a_machine_that_pushes() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let serve = of_unit("system/foldline-serve");
    assert_eq!(serve[0], "/usr/bin/foldline");
    let serve = with(
        serve,
        &[
            ("${STATE_DIRECTORY}", &path("")),
            ("${CREDENTIALS_DIRECTORY}", &path("credentials")),
            (":7433", ":0"),
        ],
    );
    receives(folder.path(), &serve[1..]);
}

#[test]
fn the_compose_file_is_a_server_that_receives() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let serve = of_service("compose.yaml", "serve");
    let others = [
        ("/data", &*path("")),
        ("/run/secrets", &path("credentials")),
        ("0.0.0.0:7433", "127.0.0.1:0"),
    ];
    receives(folder.path(), &with(serve, &others));
}
