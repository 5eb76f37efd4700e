//! The units of systemd and the compose file for a fleet: their commands, run with other paths and addresses.

#[path = "../../../cli/tests/packaging/commands.rs"]
mod commands;

use std::{
    collections::BTreeMap,
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    process::Command,
    thread,
    time::Instant,
};

use postgres::{Client, NoTls};

use self::commands::{of_service, of_unit, text, with};
use super::{Cluster, Running, WAIT, await_figure, foldline_fleet, free_address};
use crate::{logs, postgres_server::Server};

const TOKEN: &str = "token-of-the-browsers";

/// A fleet without programs, and a folder for their files and a log.
struct Place {
    cluster: Cluster,
    folder: tempfile::TempDir,
    database: String,
}

impl Place {
    fn make() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home/.factory/sessions", "config/foldline", "credentials"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        // Without TLS, they may be empty.
        for name in ["credentials/kafka.properties", "config/foldline/kafka.properties"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        fs::write(folder.path().join("credentials/token"), TOKEN).unwrap();
        let log = folder.path().join("home/.factory/sessions/one.jsonl");
        fs::write(log, logs::droid("session-one", 3, 1)).unwrap();
        Self { cluster: Cluster::start(1), folder, database: Server::get().database() }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// The program of a command, with the environment of its file.
    fn command(&self, words: &[String]) -> Command {
        let program = Path::new(&words[0]).file_name().unwrap().to_str().unwrap();
        let mut command = match program {
            "foldline-fleet" => foldline_fleet(),
            "foldline" => logs::foldline(),
            other => panic!("{other}"),
        };
        command.args(&words[1..]).env("FOLDLINE_BROKERS", &self.cluster.addresses);
        command.env("HOME", self.path("home")).env("XDG_DATA_HOME", self.path("data"));
        command
    }

    fn start(&self, words: &[String]) -> Running {
        Running(self.command(words).spawn().unwrap())
    }

    /// Runs the parts of a fleet by their commands, and the shipper of the unit, until a log is stored and measured.
    fn bring_up(&self, parts: BTreeMap<&str, Vec<String>>) {
        let mut addresses = BTreeMap::new();
        let mut running = Vec::new();
        for (name, mut words) in parts {
            let metrics = words.iter().position(|word| word == "--metrics").unwrap();
            words[metrics + 1] = free_address();
            addresses.insert(name, words[metrics + 1].clone());
            running.push(self.start(&words));
        }
        let ship = with(of_unit("user/foldline-fleet-ship"), &[("%E", &self.path("config"))]);
        running.push(self.start(&ship));
        let (begun, sql) = (Instant::now(), "SELECT count(*) FROM foldline.sessions");
        let mut client = Client::connect(&self.database, NoTls).unwrap();
        while client.query_one(sql, &[]).ok().map(|row| row.get(0)) != Some(1i64) {
            assert!(begun.elapsed() < WAIT, "the session is not stored");
            thread::sleep(std::time::Duration::from_millis(100));
        }
        await_figure(&addresses["work"], "foldline_fleet_commits_total", 1.0);
        await_figure(&addresses["sink"], "foldline_sink_entries_total", 1.0);
        await_figure(&addresses["status"], "foldline_status_sources", 1.0);
        running.into_iter().for_each(Running::stop);
    }
}

#[test]
#[cfg_attr(not(all(has_brokers, has_postgres)), ignore = "needs brokers and postgres")]
fn the_units_are_a_fleet() {
    let place = Place::make();
    let mut init = foldline_fleet();
    init.args(["init", "--brokers", &place.cluster.addresses]);
    assert!(init.status().unwrap().success());
    let credentials = place.path("credentials");
    let unit = |name: &'static str| {
        let command = of_unit(&format!("system/foldline-fleet-{name}"));
        (name, with(command, &[("${CREDENTIALS_DIRECTORY}", &credentials)]))
    };
    let mut parts: BTreeMap<_, _> = ["work", "sink", "status"].map(unit).into();
    let sink = parts.remove("sink").unwrap();
    parts.insert("sink", with(sink, &[("${FOLDLINE_DATABASE}", &place.database)]));
    place.bring_up(parts);
}

#[test]
#[cfg_attr(not(all(has_brokers, has_postgres)), ignore = "needs brokers and postgres")]
fn the_compose_file_is_a_fleet_and_its_pages() {
    let place = Place::make();
    let service = |name: &'static str| (name, of_service("compose-kafka.yaml", name));
    let database = [("postgresql://foldline@postgres/foldline?sslmode=disable", &*place.database)];
    let (_, init) = service("init");
    assert!(place.command(&init).status().unwrap().success());
    let mut parts: BTreeMap<_, _> = ["work", "sink", "status"].map(service).into();
    let sink = parts.remove("sink").unwrap();
    parts.insert("sink", with(sink, &database));
    place.bring_up(parts);
    // The pages answer from the database.
    let (_, serve) = service("serve");
    let address = free_address();
    let credentials = place.path("credentials");
    let others = [("0.0.0.0:7433", &*address), ("/run/secrets", &credentials)];
    let _serve = place.start(&with(with(serve, &database), &others));
    let begun = Instant::now();
    while !asked(&address, "/api/sessions").contains("session-one") {
        assert!(begun.elapsed() < WAIT, "{}", asked(&address, "/api/sessions"));
        thread::sleep(std::time::Duration::from_millis(100));
    }
}

/// The answer to a request with the token; empty if there is none yet.
fn asked(address: &str, path: &str) -> String {
    let mut answer = String::new();
    let request =
        format!("GET {path} HTTP/1.0\r\nHost: {address}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n");
    if let Ok(mut connection) = TcpStream::connect(address) {
        let sent = connection.write_all(request.as_bytes());
        let _ = sent.and_then(|()| connection.read_to_string(&mut answer));
    }
    answer
}

/// The targets of Prometheus are services of the compose file, at the addresses of their metrics.
#[test]
fn prometheus_asks_the_services_of_the_compose_file() {
    let settings = text("../fleet/prometheus/prometheus.yml");
    let targets: Vec<_> = settings
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- "))
        .filter_map(|target| target.split_once(':'))
        .filter(|(_, port)| port.parse::<u16>().is_ok())
        .collect();
    assert_eq!(targets.len(), 3, "{targets:?}");
    for (service, port) in targets {
        let command = of_service("compose-kafka.yaml", service);
        assert!(command.contains(&format!("0.0.0.0:{port}")), "{command:?}");
    }
    assert!(text("compose-kafka.yaml").contains("../fleet/prometheus:/etc/prometheus:ro"));
}
