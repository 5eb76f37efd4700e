//! `cargo bench --bench growth`: time per byte and memory of the program as logs grow, in bytes, files, sessions and
//! open calls. Prints a row for each run, and draws all of them to `growth.svg` in the target folder.
//!
//! `FOLDLINE_GROWTH=4096` measures up to 4096 megabytes (default: 400).
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../benches/common/mod.rs"]
mod common;
#[path = "growth/plot.rs"]
mod plot;
#[path = "common/program.rs"]
mod program;

use std::{
    env,
    fmt::Write as _,
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
};

use self::{
    common::{Random, droid},
    plot::{Panel, Point},
    program::measured,
};

/// The number of repetitions of each run; the fastest counts, since disturbances only make a run slower.
const ROUNDS: usize = 5;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let panels =
        [size(folder.path()), files(folder.path()), sessions(folder.path()), calls(folder.path())];
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).with_file_name("growth.svg");
    fs::write(&path, plot::svg(&panels)).unwrap();
    println!("\ndrawn to {}", path.display());
}

/// Runs the program, and prints and returns its time and memory for each of `bytes`.
fn point(x: usize, bytes: u64, arguments: &[&str], before: impl Fn()) -> Point {
    let runs = (0..ROUNDS).map(|_| {
        before();
        measured(arguments)
    });
    let (time, peak) = runs.min().unwrap();
    let point = Point {
        x: x as f64,
        nanoseconds: time.as_secs_f64() * 1e9 / bytes as f64,
        mebibytes: peak as f64 / 1024.0,
    };
    println!("{x:>10} {:>9.2} ns a byte {:>8.1} MiB", point.nanoseconds, point.mebibytes);
    point
}

fn replay(x: usize, log: &Path) -> Point {
    let bytes = fs::metadata(log).unwrap().len();
    let log = log.to_str().unwrap();
    point(x, bytes, &["replay", "--executor", "droid", "--format", "patches", log], || {})
}

/// One file of increasing size.
fn size(folder: &Path) -> Panel {
    println!("megabytes in one file, replayed");
    let most = env::var("FOLDLINE_GROWTH").ok().and_then(|most| most.parse().ok()).unwrap_or(400);
    let log = folder.join("size");
    let points = [1, 4, 16, 64, 256, 400, 1024, 4096].into_iter().filter(|size| *size <= most);
    let points = points.map(|megabytes| {
        let mut file = File::create(&log).unwrap();
        let mut rest = megabytes << 20;
        let mut seed = 0;
        while rest > 0 {
            seed += 1;
            let part = droid::log(rest.min(64 << 20), seed);
            file.write_all(part.as_bytes()).unwrap();
            rest = rest.saturating_sub(part.len());
        }
        replay(megabytes, &log)
    });
    Panel { title: "megabytes in one file, replayed".to_owned(), points: points.collect() }
}

/// The same number of bytes in an increasing number of files.
fn files(folder: &Path) -> Panel {
    const BYTES: usize = 64 << 20;
    println!("files of 64 MB, ingested");
    let points = [1, 10, 100, 1_000, 4_000].map(|count| {
        let logs = folder.join("files");
        let database = folder.join("database");
        let _ = fs::remove_dir_all(&logs);
        fs::create_dir(&logs).unwrap();
        let mut bytes = 0;
        for number in 0..count {
            let log = droid::log(BYTES / count, 1_000 + number as u64)
                .replace("608a704f", &format!("{number:08x}"));
            bytes += log.len() as u64;
            fs::write(logs.join(format!("{number}.jsonl")), log).unwrap();
        }
        let arguments =
            ["ingest", "--db", database.to_str().unwrap(), "--jobs", "2", logs.to_str().unwrap()];
        point(count, bytes, &arguments, || {
            for ending in ["", "-wal", "-shm"] {
                let _ = fs::remove_file(format!("{}{ending}", database.display()));
            }
        })
    });
    Panel { title: "files of 64 MB, ingested".to_owned(), points: points.into() }
}

/// The same records in an increasing number of sessions.
fn sessions(folder: &Path) -> Panel {
    const RECORDS: usize = 100_000;
    println!("sessions in 100,000 records, replayed");
    let points = [1, 10, 100, 1_000, 10_000, 100_000].map(|count| {
        let mut random = Random(5);
        let mut log = String::new();
        for number in 0..RECORDS {
            let session = format!("608a704f-8a2d-45ef-8ac5-{:012}", number * count / RECORDS);
            let text = random.text(500);
            let message = serde_json::json!({"type":"message","role":"assistant","id":format!("m{number:06}"),"text":text,"timestamp":1_760_806_536_533_u64 + number as u64,"session_id":session});
            writeln!(log, "{message}").unwrap();
        }
        replay(count, &written(folder, &log))
    });
    Panel { title: "sessions in 100,000 records, replayed".to_owned(), points: points.into() }
}

/// A million calls, with an increasing number of open calls.
fn calls(folder: &Path) -> Panel {
    const CALLS: usize = 1_000_000;
    println!("calls that are open at once, of a million, replayed");
    let points = [10, 100, 1_000, 10_000, 100_000, 1_000_000].map(|open| {
        let session = "608a704f-8a2d-45ef-8ac5-647ec9d48806";
        let mut log = String::new();
        for first in (0..CALLS).step_by(open) {
            for number in first..first + open {
                writeln!(log, r#"{{"type":"tool_call","id":"call_{number:08}","messageId":"m","toolId":"Read","toolName":"Read","parameters":{{"file_path":"/home/me/project/src/lib.rs"}},"timestamp":1760806536533,"session_id":"{session}"}}"#).unwrap();
            }
            for number in first..first + open {
                writeln!(log, r#"{{"type":"tool_result","id":"call_{number:08}","messageId":"m","toolId":"","isError":false,"value":"what stands in the file","timestamp":1760806536533,"session_id":"{session}"}}"#).unwrap();
            }
        }
        replay(open, &written(folder, &log))
    });
    Panel { title: "calls open at once, of a million, replayed".to_owned(), points: points.into() }
}

fn written(folder: &Path, log: &str) -> PathBuf {
    let path = folder.join("log");
    fs::write(&path, log).unwrap();
    path
}
