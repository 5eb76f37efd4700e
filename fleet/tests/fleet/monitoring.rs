//! What operators see: the status, the health and the metrics of every part.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{
    Cluster, Running, Sender, Topics, WAIT, await_figure, command, free_address, get, sinks::ended,
};
use crate::logs;

/// All long-running parts of a fleet, each with its address.
struct Parts {
    topics: Topics,
    cluster: Cluster,
    folder: tempfile::TempDir,
    addresses: [String; 4],
    running: Vec<Running>,
}

impl Parts {
    fn start(prefix: &str) -> Self {
        let cluster = Cluster::start(1);
        let topics = Topics::make(&cluster.addresses, prefix, 2, 1);
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("logs")).unwrap();
        let addresses = [(); 4].map(|()| free_address());
        let mut parts = Self { topics, cluster, folder, addresses, running: Vec::new() };
        let [shipper, worker, sink, status] = parts.addresses.clone();
        let [logs, checkpoint, db] = ["logs", "ship.json", "fleet.db"].map(|name| parts.path(name));
        let ship = ["ship", &logs, "--host", "here", "--checkpoint", &checkpoint];
        for arguments in [
            [&ship[..], &["--metrics", &shipper]].concat(),
            vec!["work", "--metrics", &worker],
            vec!["sink", "--db", &db, "--metrics", &sink],
            vec!["status", "--metrics", &status],
        ] {
            parts.running.push(Running::start(&parts.cluster, &parts.topics, &arguments));
        }
        parts
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, content: &[u8]) {
        fs::write(Path::new(&self.path("logs")).join(name), content).unwrap();
    }

    fn status(&self, further: &[&str]) -> String {
        let arguments = [&["status"], further].concat();
        let output =
            command(&self.cluster, &self.topics, &arguments).stdout(Stdio::piped()).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    }

    /// Waits until the status satisfies a condition.
    fn await_status(
        &self,
        further: &[&str],
        is_met: impl Fn(&serde_json::Value) -> bool,
    ) -> serde_json::Value {
        let begun = Instant::now();
        loop {
            let text = self.status(&[further, &["--format", "json"]].concat());
            let status: serde_json::Value = serde_json::from_str(&text).unwrap();
            if is_met(&status) {
                return status;
            }
            assert!(begun.elapsed() < WAIT, "{status:#}");
            thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Waits until an address answers with this status.
fn await_answer(address: &str, path: &str, code: &str) {
    let begun = Instant::now();
    loop {
        let answer = get(address, path);
        if answer.lines().next().is_some_and(|line| line.contains(code)) {
            return;
        }
        assert!(begun.elapsed() < WAIT, "{address}{path} does not answer {code}: {answer}");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn a_shipper_that_died_and_bytes_that_were_destroyed_are_seen() {
    let mut parts = Parts::start("seen");
    let log = parts.path("logs/log.jsonl");
    parts.write("log.jsonl", logs::droid("a-session", 5, 1).as_bytes());
    for address in &parts.addresses {
        await_answer(address, "/healthz", "200");
        await_answer(address, "/readyz", "200");
    }
    await_figure(&parts.addresses[0], "foldline_ship_pieces_total", 1.0);
    await_figure(&parts.addresses[0], "foldline_ship_unacknowledged", 0.0);
    // The sink reports its offsets to the brokers.
    let status = parts.await_status(&[], |status| status["sinks"][0]["lag_seconds"] == 0.0);
    assert_eq!(status["sinks"][0]["group"], "seen.sink", "{status}");
    assert_eq!(status["shippers"][0]["state"], "reporting", "{status}");
    assert_eq!(status["shippers"][0]["host"], "here", "{status}");
    parts.running.remove(0).kill();
    let silent = |status: &serde_json::Value| status["shippers"][0]["state"] == "silent";
    parts.await_status(&["--silent-after", "0"], silent);

    // The bytes that were written while no shipper ran are destroyed.
    let [first, last] = [2, 3].map(|part| logs::droid("a-session", 5, part));
    fs::write(&log, first).unwrap();
    fs::write(&log, last).unwrap();
    let (logs, checkpoint) = (parts.path("logs"), parts.path("ship.json"));
    let ship = ["ship", &logs, "--host", "here", "--checkpoint", &checkpoint, "--once"];
    let mut ship = command(&parts.cluster, &parts.topics, &ship);
    let (code, said) = ended(Running(ship.stderr(Stdio::piped()).spawn().unwrap()));
    assert!(code == Some(1) && said.contains("was truncated or rewritten"), "{said}");
    let status = parts
        .await_status(&["--silent-after", "0"], |status| status["shippers"][0]["state"] == "ended");
    assert_eq!(status["shippers"][0]["hole_count"], 1, "{status}");
    let shown = parts.status(&[]);
    assert!(shown.contains("bytes may be missing at 0:"), "{shown}");
    let table = shown.lines().filter(|line| !line.contains("bytes may be missing"));
    let long: Vec<_> = table.filter(|line| line.chars().count() > 80).collect();
    assert!(long.is_empty(), "{long:?}");
    await_figure(&parts.addresses[3], "foldline_status_holes", 1.0);
}

/// A sink of some partitions is not behind in the others, which it never reads.
#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn a_sink_is_behind_in_its_own_partitions_only() {
    let cluster = Cluster::start(1);
    let topics = Topics::make(&cluster.addresses, "divided", 2, 1);
    let folder = tempfile::tempdir().unwrap();
    let store = |name: &str, further: &[&str]| {
        let db = folder.path().join(name);
        let sink = ["sink", "--once", "--name", name, "--db", db.to_str().unwrap()];
        let mut sink = command(&cluster, &topics, &[&sink, further].concat());
        assert!(sink.status().unwrap().success());
    };
    let sinks = || {
        let arguments = ["status", "--format", "json"];
        let output = command(&cluster, &topics, &arguments).stdout(Stdio::piped()).output();
        let status: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
        status["sinks"].clone()
    };
    // Of its partition, nothing is stored yet.
    let half = ["--partitions", "1"];
    store("half", &half);
    let _worker = Running::start(&cluster, &topics, &["work"]);
    let (content, producer) = (logs::droid("a-session", 5, 1).into_bytes(), topics.producer());
    for number in 0..8 {
        let (source, format) = (format!("source {number}"), "droid".to_owned());
        let sender = Sender { topics: &topics, producer: producer.clone(), source, format };
        sender.send(&content, 0, 0, content.len(), 1 << 16);
        sender.end(0, content.len());
        sender.flush();
    }
    topics.await_complete(8);
    let [(_, first), (_, end)] = [0, 1].map(|partition| topics.ends("events", partition));
    assert!(first > 0 && end > 0, "both have events: {first}, {end}");
    let behind = serde_json::json!([{"partition": 1, "stored_to": 0, "lag": end}]);
    assert_eq!(sinks()[0]["partitions"], behind);
    store("half", &half);
    let (address, done) = (free_address(), sinks());
    assert_eq!(done[0]["group"], "divided.sink.half");
    assert_eq!((&done[0]["lag"], &done[0]["lag_seconds"]), (&0.into(), &0.0.into()), "{done}");

    // The partition that no sink has is reported.
    let status = Running::start(&cluster, &topics, &["status", "--metrics", &address]);
    await_figure(&address, "foldline_status_unstored_partitions", 1.0);
    let figures = get(&address, "/metrics");
    let lag = "foldline_status_sink_lag_seconds{sink=\"divided.sink.half\"} 0\n";
    assert!(figures.contains(lag), "{figures}");
    status.stop();
    store("whole", &[]);
    let whole = sinks()[1]["partitions"].clone();
    assert_eq!(whole.as_array().unwrap().len(), 2, "{whole}");
}

/// The files for Prometheus and Grafana.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The queries of the dashboard.
fn queries() -> Vec<String> {
    let text = fs::read_to_string(file("grafana/foldline-fleet.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    targets.map(|target| target["expr"].as_str().unwrap().to_owned()).collect()
}

/// The names of metrics in a text.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    let is_metric = |word: &&str| {
        ["fleet", "ship", "sink", "status"]
            .iter()
            .any(|part| word.starts_with(&format!("foldline_{part}_")))
            && !word.ends_with('_')
    };
    words.filter(is_metric).map(str::to_owned).collect()
}

/// The names of the metrics that all parts export, once each of them has exported some.
fn exported(parts: &Parts) -> BTreeSet<String> {
    let begun = Instant::now();
    loop {
        let answers = parts.addresses.each_ref().map(|address| get(address, "/metrics"));
        let lines = answers.iter().flat_map(|answer| answer.lines());
        assert!(lines.clone().all(|line| !line.ends_with(" -0")), "{answers:?}");
        let names: BTreeSet<_> =
            lines.filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
        let last = ["foldline_ship_holes", "foldline_fleet_commits_total"];
        let more = ["foldline_sink_deleted_total", "foldline_status_holes"];
        if last.iter().chain(&more).all(|name| names.contains(name)) {
            return names.into_iter().map(str::to_owned).collect();
        }
        assert!(begun.elapsed() < WAIT, "{names:?}");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
#[cfg_attr(not(has_brokers), ignore = "needs brokers: fleet/broker fetch")]
fn every_metric_of_the_dashboard_and_of_the_alerts_is_exported() {
    let parts = Parts::start("names");
    let rules = fs::read_to_string(file("prometheus/alerts.yml")).unwrap();
    let tests = fs::read_to_string(file("prometheus/alerts_test.yml")).unwrap();
    let used = names(&[queries().join("\n"), rules, tests].join("\n"));
    assert!(used.len() > 20, "{used:?}");
    let exported = exported(&parts);
    let unknown: Vec<_> = used.difference(&exported).collect();
    assert!(unknown.is_empty(), "{unknown:?} are not among {exported:?}");
}

/// A server, with a file of its settings in this folder.
fn prometheus(folder: &Path, targets: &[String], address: &str) -> Running {
    let targets: Vec<_> = targets.iter().map(|target| format!("'{target}'")).collect();
    let settings = format!(
        "global: {{scrape_interval: 1s, evaluation_interval: 1s}}\nrule_files: ['{}']\nscrape_configs:\n  \
         - job_name: foldline-fleet\n    static_configs: [{{targets: [{}]}}]\n",
        file("prometheus/alerts.yml").display(),
        targets.join(", ")
    );
    let path = folder.join("prometheus.yml");
    fs::write(&path, settings).unwrap();
    let mut command = Command::new("prometheus");
    command.arg(format!("--config.file={}", path.display()));
    command.arg(format!("--storage.tsdb.path={}", folder.join("prometheus").display()));
    command.arg(format!("--web.listen-address={address}"));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Running(command.spawn().unwrap())
}

/// The number of series that a query returns.
fn ask(address: &str, query: &str) -> usize {
    let escaped: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let answer = get(address, &format!("/api/v1/query?query={escaped}"));
    let Some((_, body)) = answer.split_once("\r\n\r\n") else { return 0 };
    let answer: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    assert_ne!(answer["status"], "error", "{query}: {answer}");
    answer["data"]["result"].as_array().map_or(0, Vec::len)
}

#[test]
#[cfg_attr(
    not(all(has_brokers, has_prometheus)),
    ignore = "needs brokers: fleet/broker fetch; and prometheus"
)]
fn prometheus_answers_every_query_of_the_dashboard() {
    let parts = Parts::start("asked");
    parts.write("log.jsonl", logs::droid("a-session", 5, 1).as_bytes());
    let address = free_address();
    let _server = prometheus(parts.folder.path(), &parts.addresses, &address);
    for query in queries() {
        let begun = Instant::now();
        while ask(&address, &query) == 0 {
            assert!(begun.elapsed() < WAIT, "{query} returns nothing");
            thread::sleep(Duration::from_millis(100));
        }
    }
    assert_eq!(ask(&address, "ALERTS{alertname='FoldlineStatusMissing',alertstate='firing'}"), 0);
}

#[test]
#[cfg_attr(not(has_promtool), ignore = "needs promtool")]
fn the_alerts_are_raised_when_they_have_to_be() {
    for arguments in [
        ["check", "rules", "alerts.yml"],
        ["test", "rules", "alerts_test.yml"],
        ["check", "config", "prometheus.yml"],
    ] {
        let mut promtool = Command::new("promtool");
        let output = promtool.args(arguments).current_dir(file("prometheus")).output().unwrap();
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        assert!(output.status.success(), "{said:?}");
    }
}
