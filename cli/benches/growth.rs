//! `cargo bench -p foldline-cli --bench growth`: what each verb costs a unit, as the number of units grows: kilobytes,
//! entries, sessions, failures, files, open calls, sessions that repeat each other, and logs. Prints a row for each verb, draws
//! all of them to `docs/growth.svg`, and names what costs more than half again as much as at its best.
//!
//! `FOLDLINE_GROWTH=1000` measures up to a thousand units; `FOLDLINE_VERB=usage` only verbs that contain this.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../benches/common/mod.rs"]
mod common;
#[path = "growth/picture.rs"]
mod picture;
#[path = "common/program.rs"]
mod program;
#[path = "growth/units.rs"]
mod units;

use std::{env, fs, path::Path, time::Duration};

use self::{
    picture::{Curve, Panel},
    program::measured,
    units::{UNITS, Unit},
};

/// How often each run is repeated, unless it is long; the fastest counts.
const ROUNDS: usize = 3;
const LONG: Duration = Duration::from_secs(1);

/// By this factor a unit may cost more than at its best, where there are more of them.
const TOLERANCE: f64 = 1.5;

/// What is run, as words: `LOG`, its database `DB`, a copy of it `COPY`, its audit trail `TRAIL`, and a file `NEW` in an
/// empty folder.
const VERBS: [&str; 44] = [
    "sessions -n 0 --db DB",
    "sessions --sort cost --db DB",
    "sessions --sort failures --db DB",
    "task list -n 0 --db DB",
    "query sql SELECT(count(*))FROM(entries) --db DB",
    "show latest --db DB",
    "show latest:5 --db DB",
    "show latest -n 0 -f json --db DB",
    "show latest --only errors --db DB",
    "search please -n 0 --db DB",
    "search leas -n 0 --db DB",
    "errors --db DB",
    "errors -n 0 --db DB",
    "files --db DB",
    "files -n 0 --db DB",
    "files f5.rs -n 0 --db DB",
    "tools --db DB",
    "usage --by session -n 0 --db DB",
    "usage --by day,model,project -n 0 --db DB",
    "export latest --format html --db DB",
    "export latest --format md --db DB",
    "export latest --format json --db DB",
    "prune --older-than 2100-01-01 --dry-run --db DB",
    "prune --older-than 2100-01-01 --db COPY",
    "check --db DB",
    "check --repair --db COPY",
    "usage LOG -n 0",
    "blocks LOG",
    "doctor LOG",
    "show LOG",
    "export LOG --format html --out NEW",
    "export LOG --format html --redact --out NEW",
    "export LOG --format md --out NEW",
    "replay LOG --format patches",
    "replay LOG --format events",
    "replay LOG --format transcript",
    "replay LOG --format conversation",
    "replay LOG --format metrics",
    "replay LOG --sink audit=NEW",
    "replay LOG --sink otlp=NEW",
    "verify TRAIL --source LOG",
    "ingest LOG --db NEW",
    "ingest LOG --db DB",
    "run -- cat LOG",
];

/// Which of them take a folder of logs; the last one is a refresh in which nothing is new.
const FOLDERS: [&str; 5] =
    ["usage LOG -n 0", "blocks LOG", "doctor LOG", "ingest LOG --db NEW", "ingest LOG --db DB"];

fn main() {
    let most = env::var("FOLDLINE_GROWTH").ok().and_then(|most| most.parse().ok());
    let most: usize = most.unwrap_or(100_000);
    let part = env::var("FOLDLINE_VERB").unwrap_or_default();
    let counts: Vec<_> =
        (0..6).map(|power| 10_usize.pow(power)).filter(|count| *count <= most).collect();
    let folder = tempfile::tempdir().unwrap();
    let verbs = VERBS.iter().filter(|verb| verb.contains(&part));
    let mut panels: Vec<_> =
        verbs.map(|verb| Panel { title: verb, curves: Vec::new(), mebibytes: 0.0 }).collect();
    let mut growing = Vec::new();
    for (at, unit) in UNITS.iter().enumerate() {
        println!("\n{}: microseconds for each of {counts:?}; MiB", unit.name);
        let made: Vec<_> =
            counts.iter().map(|count| Made::new(folder.path(), unit, *count)).collect();
        let takes_folder = |verb: &str| {
            !verb.contains("TRAIL") && (!verb.contains("LOG") || FOLDERS.contains(&verb))
        };
        for panel in panels.iter_mut().filter(|panel| !unit.is_folder || takes_folder(panel.title))
        {
            let points: Vec<_> = made.iter().map(|made| made.cost(panel.title)).collect();
            let mebibytes = points.iter().map(|point| point.1).fold(0.0, f64::max);
            let curve = Curve { unit: at, costs: points.iter().map(|point| point.0).collect() };
            let costs: String = curve.costs.iter().map(|cost| format!("{cost:>9.2}")).collect();
            println!("{:<44}{costs} {mebibytes:>6.0}", panel.title);
            if curve.growth() > TOLERANCE {
                growing.push(format!("{:.1}x  {}, by {}", curve.growth(), panel.title, unit.name));
            }
            panel.mebibytes = panel.mebibytes.max(mebibytes);
            panel.curves.push(curve);
        }
    }
    println!("\nabove {TOLERANCE}x of the best:\n{}", growing.join("\n"));
    if part.is_empty() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("docs/growth.svg");
        let names: Vec<_> = UNITS.iter().map(|unit| unit.name).collect();
        fs::write(&path, picture::svg(&panels, &counts, &names, TOLERANCE)).unwrap();
        println!("drawn to {}", path.display());
    }
}

/// A log with so many units, and what was made of it.
struct Made {
    count: usize,
    log: String,
    db: String,
    trail: String,
    new: String,
    copy: String,
}

impl Made {
    fn new(folder: &Path, unit: &Unit, count: usize) -> Self {
        let path = |name: &str| folder.join(format!("{count}-{name}")).display().to_string();
        let made = Self {
            count,
            log: path("log.jsonl"),
            db: path("db"),
            trail: path("trail"),
            new: path("new/file"),
            copy: path("copy"),
        };
        remove(&made.log);
        unit.write(count, Path::new(&made.log));
        remove(&made.db);
        measured(&["ingest", &made.log, "--db", &made.db]);
        remove(&made.trail);
        if !unit.is_folder {
            measured(&["replay", &made.log, "--sink", &format!("audit={}", made.trail)]);
        }
        made
    }

    /// What a verb costs for one unit, in microseconds, and its memory in MiB.
    fn cost(&self, verb: &str) -> (f64, f64) {
        let words: Vec<_> = verb.split(' ').map(|word| self.word(word)).collect();
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let mut fastest = (Duration::MAX, 0);
        for _ in 0..ROUNDS {
            let new = Path::new(&self.new).parent().unwrap();
            let _ = fs::remove_dir_all(new);
            fs::create_dir(new).unwrap();
            if verb.contains("COPY") {
                remove(&self.copy);
                fs::copy(&self.db, &self.copy).unwrap();
            }
            fastest = fastest.min(measured(&words));
            if fastest.0 > LONG {
                break;
            }
        }
        let (time, peak) = fastest;
        (time.as_secs_f64() * 1e6 / self.count as f64, peak as f64 / 1024.0)
    }

    fn word(&self, word: &str) -> String {
        let Self { log, db, trail, new, copy, .. } = self;
        match word {
            "LOG" => log.clone(),
            "DB" => db.clone(),
            "TRAIL" => trail.clone(),
            "COPY" => copy.clone(),
            word => word.replace("NEW", new),
        }
    }
}

fn remove(path: &str) {
    for ending in ["", "-wal", "-shm", ".lock"] {
        let path = format!("{path}{ending}");
        let _ = fs::remove_file(&path);
        let _ = fs::remove_dir_all(&path);
    }
}
