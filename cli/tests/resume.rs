//! Going on after the worst: whenever a replay is killed or cut, the final output is that of an
//! undisturbed run, or it reports that it cannot continue.
#![cfg(unix)]

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use foldline::{
    processor::{DEFAULT_MAX_LINE, LineFramer, Processor, Snapshot},
    transduce::{Batch, Emitter, Resume, Transducer},
};
use foldline_agents::{DynExecutor, Records, Registry, Sessions};
use foldline_domain::{
    DomainEvent, Json, Located, LocatingState, locating,
    patch::{PatchStream, PatchStreamState},
};

/// A log in which calls stay open, results come late, spellings are odd, and lines are damaged.
fn log(records: usize) -> String {
    let mut log = String::from(
        "{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/w\",\"session_id\":\"s\",\"model\":\"m\"}\n",
    );
    for n in 0..records {
        let line = match n % 7 {
            0 => format!(
                r#"{{"type":"message","role":"user","id":"m{n}","text":"caf\u00e9 \/ {n}","timestamp":{n}}}"#
            ),
            1 => format!(
                r#"{{"type":"tool_call","id":"c{n}","messageId":"m{n}","toolName":"Execute","parameters":{{"command":"echo \/{n}","odd":[1.10,"\u00e9"]}},"timestamp":{n}}}"#
            ),
            2 => format!(
                r#"{{"type":"tool_result","id":"c{}","isError":false,"value":"late \/{n}","timestamp":{n}}}"#,
                n.saturating_sub(8)
            ),
            3 => format!(
                r#"{{"type":"tool_result","id":"c{}","isError":true,"value":"early \u0041","timestamp":{n}}}"#,
                n + 20
            ),
            4 => format!(
                r#"{{"type":"reasoning","id":"r{}","text":"hm {}","timestamp":{n}}}"#,
                n / 14,
                n / 14
            ),
            5 => "{\n  \"type\": \"message\",\n  \"role\": \"assistant\",\n  \"text\": \"wide\"\n}"
                .to_owned(),
            _ => format!(r#"{{"type":"mess{{"type":"message","role":"assistant","text":"{n}"}}"#),
        };
        log.push_str(&line);
        log.push('\n');
    }
    log
}

/// The files of one replay.
struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new(log: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("log"), log).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_default()
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    fn command(&self, format: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_foldline"));
        command
            .args(["replay", "log", "--executor", "droid", "--format", format])
            .args(["--out", "out", "--checkpoint", "checkpoint", "--checkpoint-every", "5"])
            .args(more)
            .current_dir(self.folder.path())
            .stdout(Stdio::null());
        command
    }

    fn run(&self, format: &str, more: &[&str]) -> Output {
        self.command(format, more).output().unwrap()
    }

    fn finish(&self, format: &str, more: &[&str]) -> Vec<u8> {
        let output = self.run(format, more);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.read("out")
    }
}

/// The output of an undisturbed run without checkpoints.
fn undisturbed(log: &str, format: &str) -> Vec<u8> {
    let files = Files::new(log);
    let output = Command::new(env!("CARGO_BIN_EXE_foldline"))
        .args(["replay", "--executor", "droid", "--format", format])
        .arg(files.path("log"))
        .output()
        .unwrap();
    assert!(output.status.success());
    output.stdout
}

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn kills() -> usize {
    std::env::var("FOLDLINE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(20)
}

#[test]
fn killed_at_any_moment_a_replay_ends_as_if_it_had_not_been() {
    let log = log(8000);
    let mut numbers = Numbers(0x2545_F491_4F6C_DD1D);
    for format in ["events", "patches"] {
        // As long as a run takes on this machine, at this moment.
        let begun = Instant::now();
        let expected = undisturbed(&log, format);
        let took = u64::try_from(begun.elapsed().as_micros()).unwrap();
        let (mut done, mut amid) = (0, 0);
        // More kills, if other work on this machine delays the output.
        while done < kills() / 2 || (amid * 4 <= done && done < 10 * kills()) {
            let files = Files::new(&log);
            loop {
                let mut child = files.command(format, &[]).spawn().unwrap();
                // Half of the kills are amid the output, however slow the machine is.
                let is_late = numbers.below(2) == 0;
                let is_written = || files.path("out").metadata().is_ok_and(|out| out.len() > 0);
                while is_late && !is_written() && child.try_wait().unwrap().is_none() {
                    thread::sleep(Duration::from_micros(200));
                }
                thread::sleep(Duration::from_micros(numbers.below(took)));
                let running = child.try_wait().unwrap().is_none();
                child.kill().unwrap();
                let status = child.wait().unwrap();
                if !running {
                    assert!(status.success());
                    break;
                }
                done += 1;
                amid += usize::from(!files.read("out").is_empty());
                if numbers.below(4) == 0 {
                    break;
                }
            }
            assert!(files.finish(format, &[]) == expected, "{format}: another output");
        }
        assert!(amid * 4 > done, "only {amid} of {done} kills were amid the output");
    }
}

#[test]
fn killed_while_it_follows_it_misses_nothing_and_says_nothing_twice() {
    let log = log(2000);
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    for format in ["events", "patches"] {
        let expected = undisturbed(&log, format);
        let files = Files::new("");
        let mut writer = fs::OpenOptions::new().append(true).open(files.path("log")).unwrap();
        let kills = kills() / 2;
        let mut rest = log.as_bytes();
        for left in (1..=kills as u64).rev() {
            let mut child = files.command(format, &["--follow"]).spawn().unwrap();
            let piece = (rest.len() as u64 / left).min(rest.len() as u64) as usize;
            for part in rest[..piece].chunks(piece / 3 + 1) {
                thread::sleep(Duration::from_micros(numbers.below(50_000)));
                writer.write_all(part).unwrap();
            }
            rest = &rest[piece..];
            thread::sleep(Duration::from_micros(numbers.below(150_000)));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        writer.write_all(rest).unwrap();
        assert!(files.finish(format, &["--follow", "--idle-exit", "0"]) == expected, "{format}");
    }
}

#[test]
fn a_log_that_grows_after_its_end_is_gone_on_with() {
    let log = log(60);
    for format in ["events", "patches"] {
        for cut in [0, 1, 100, log.len() / 2, log.len() / 2 + 7, log.len() - 1, log.len()] {
            let files = Files::new(&log[..cut]);
            files.finish(format, &[]);
            files.write("log", log.as_bytes());
            assert!(files.finish(format, &[]) == undisturbed(&log, format), "{format}: {cut}");
            assert!(files.finish(format, &[]) == undisturbed(&log, format), "{format}: again");
        }
    }
}

/// `FOLDLINE_TORN=1` cuts at every byte, and not at some of them only.
#[test]
fn a_cut_file_is_gone_on_with_or_refused() {
    let step = if std::env::var_os("FOLDLINE_TORN").is_some() { 1 } else { 401 };
    let log = log(300);
    for format in ["events", "patches"] {
        let expected = undisturbed(&log, format);
        let files = Files::new(&log[..log.len() * 2 / 3]);
        files.finish(format, &[]);
        let stored = ["checkpoint", "out"].map(|name| (name, files.read(name)));
        files.write("log", log.as_bytes());
        let checkpoint: serde_json::Value = serde_json::from_slice(&stored[0].1).unwrap();
        // The additions at the end of the log are not needed; the output before them is.
        let needed = checkpoint["body"]["output"]["length"].as_u64().unwrap() as usize;
        for (name, whole) in &stored {
            let last = if *name == "out" { needed + 1000 } else { whole.len() };
            let (mut resumed, mut refused) = (0, 0);
            for cut in (last.saturating_sub(4096)..=last).rev().step_by(step) {
                stored.iter().for_each(|(name, bytes)| files.write(name, bytes));
                files.write(name, &whole[..cut]);
                let output = files.run(format, &[]);
                let message = String::from_utf8_lossy(&output.stderr).into_owned();
                match output.status.code() {
                    Some(0) => {
                        resumed += 1;
                        assert!(files.read("out") == expected, "{format}: {name} cut at {cut}");
                    }
                    Some(1) => {
                        refused += 1;
                        assert!(message.contains("--restart"), "{message}");
                        assert!(files.read(name) == whole[..cut], "{name} was changed");
                    }
                    code => panic!("{format}: {name} cut at {cut}: {code:?} {message}"),
                }
            }
            assert!(resumed > 0 && refused > 0, "{name}: {resumed} resumed, {refused} refused");
        }
        stored.iter().for_each(|(name, bytes)| files.write(name, &bytes[..bytes.len() / 2]));
        assert!(files.finish(format, &["--restart"]) == expected, "{format}: restart");
    }
}

#[test]
fn what_does_not_belong_to_the_checkpoint_is_refused() {
    let log = log(50);
    let files = Files::new(&log);
    files.finish("events", &[]);
    let refused = |format: &str, more: &[&str], why: &str| {
        let output = files.run(format, more);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(why) && message.contains("--restart"), "{message}");
    };
    refused("patches", &[], "another --format");

    files.write("log", &log.as_bytes()[..log.len() / 2]);
    refused("events", &[], "shorter than it was");
    files.write("log", log.replace("caf", "cof").as_bytes());
    refused("events", &[], "another file");
    files.write("log", log.as_bytes());

    let out = files.read("out");
    files.write("out", &vec![b'x'; out.len()]);
    refused("events", &[], "the output does not belong to the journal");
    files.write("out", &out);

    let stored = String::from_utf8(files.read("checkpoint")).unwrap();
    files.write("checkpoint", stored.replacen(":1,", ":99,", 1).as_bytes());
    refused("events", &[], "version 99");
    files.write("checkpoint", b"{}");
    refused("events", &[], "damaged");
    assert!(files.finish("events", &["--restart"]) == undisturbed(&log, "events"));
}

/// The output of one log in several consecutive files, without any stop.
fn undisturbed_over(files: &[&str], format: &str) -> Vec<u8> {
    let executor = Registry::builtin().named("droid").cloned().unwrap();
    let mut processor = Processor::new(
        Records,
        Transducer::new(Sessions::new(executor.clone()), Written::default()),
    );
    for (number, file) in files.iter().enumerate() {
        if number > 0 {
            processor.next_file(|()| {});
        }
        processor.push(file.as_bytes(), |()| {});
    }
    let written = processor.finish(|()| {}).emitter;
    if format == "events" { written.events } else { written.patches }
}

#[test]
fn a_log_that_was_rotated_meanwhile_is_gone_on_with_where_it_was() {
    let (log, next, last) = (log(70), log(9), log(5));
    let torn = &log[..log.len() - 30];
    for format in ["events", "patches"] {
        for cut in [1500, log.len() / 2 + 7, torn.len()] {
            let begun = |how: &[&str]| {
                let files = Files::new(&log[..cut]);
                files.finish(format, how);
                files.write("log", torn.as_bytes());
                files
            };
            // Renamed, once.
            let follow: &[&str] = &["--follow", "--idle-exit", "0"];
            for how in [&[], follow] {
                let files = begun(how);
                fs::rename(files.path("log"), files.path("log.1")).unwrap();
                files.write("log", next.as_bytes());
                let expected = undisturbed_over(&[torn, &next], format);
                assert!(files.finish(format, &[]) == expected, "{format}: {cut}, renamed");
                // Now the new one is the log that was left.
                files.write("log", [&*next, &*last].concat().as_bytes());
                let expected = undisturbed_over(&[torn, &format!("{next}{last}")], format);
                assert!(files.finish(format, how) == expected, "{format}: {cut}, grown");
            }
            // Renamed, more than once.
            let files = begun(&[]);
            fs::rename(files.path("log"), files.path("log-20260101")).unwrap();
            files.write("log-20260102", next.as_bytes());
            files.write("log", last.as_bytes());
            let expected = undisturbed_over(&[torn, &next, &last], format);
            assert!(files.finish(format, &[]) == expected, "{format}: {cut}, renamed twice");
            // Copied and cut.
            let files = begun(&[]);
            fs::copy(files.path("log"), files.path("log.1")).unwrap();
            files.write("log", next.as_bytes());
            let expected = undisturbed_over(&[torn, &next], format);
            assert!(files.finish(format, &[]) == expected, "{format}: {cut}, copied and cut");
        }
    }
}

#[test]
fn killed_among_rotated_files_it_misses_nothing_and_says_nothing_twice() {
    let parts = [log(900), log(700), log(800)];
    let expected = undisturbed_over(&parts.each_ref().map(String::as_str), "events");
    let mut numbers = Numbers(0xD1B5_4A32_D192_ED03);
    let (mut killed, mut amid) = (0, 0);
    while killed < kills() {
        let files = Files::new(&parts[0][..3000]);
        files.finish("events", &[]);
        files.write("log", parts[0].as_bytes());
        fs::rename(files.path("log"), files.path("log.2")).unwrap();
        files.write("log.1", parts[1].as_bytes());
        files.write("log", parts[2].as_bytes());
        for _ in 0..3 {
            let mut child = files.command("events", &[]).stderr(Stdio::null()).spawn().unwrap();
            thread::sleep(Duration::from_micros(numbers.below(25_000)));
            amid += usize::from(child.try_wait().unwrap().is_none());
            child.kill().unwrap();
            child.wait().unwrap();
            killed += 1;
        }
        assert!(files.finish("events", &[]) == expected, "another output");
    }
    assert!(amid * 3 > killed, "only {amid} of {killed} were killed before the end");
}

#[test]
fn a_rotated_log_that_is_not_found_is_refused() {
    let log = log(50);
    let files = Files::new(&log);
    files.finish("events", &[]);
    let written = files.read("out");
    // The file next to the log is another log: shorter, changed, or with an unrelated name.
    files.write("log.1", &log.as_bytes()[..log.len() - 1]);
    files.write("log.2", log.replace("caf", "cof").as_bytes());
    files.write("other.1", log.as_bytes());
    fs::remove_file(files.path("log")).unwrap();
    files.write("log", &log.as_bytes()[..30]);
    let output = files.run("events", &[]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("no file beside it") && message.contains("--restart"), "{message}");
    // Two copies are one too many.
    files.write("log.3", log.as_bytes());
    files.write("log.4", log.as_bytes());
    assert_eq!(files.run("events", &[]).status.code(), Some(1));
    assert!(files.read("out") == written, "the output was changed");
    fs::remove_file(files.path("log.4")).unwrap();
    assert_eq!(files.run("events", &[]).status.code(), Some(0));
}

/// Both forms of output, as bytes.
#[derive(Default)]
struct Written {
    stream: PatchStream,
    events: Vec<u8>,
    patches: Vec<u8>,
}

impl Emitter<Located<DomainEvent>, ()> for Written {
    fn emit(&mut self, event: &Located<DomainEvent>) -> Batch<()> {
        foldline_json::append(&mut self.events, event).unwrap();
        self.events.push(b'\n');
        if let Some(record) = self.stream.record(event) {
            foldline_json::append(&mut self.patches, &record).unwrap();
            self.patches.push(b'\n');
        }
        Batch::EMPTY
    }

    fn finish(&mut self) -> Batch<()> {
        for record in self.stream.remaining() {
            foldline_json::append(&mut self.patches, &record).unwrap();
            self.patches.push(b'\n');
        }
        Batch::EMPTY
    }
}

impl Resume for Written {
    type State = PatchStreamState;

    fn state(&self) -> PatchStreamState {
        self.stream.state()
    }

    fn resume(&mut self, state: PatchStreamState) {
        self.stream = PatchStream::restore(state);
    }
}

/// Reads a log, and at each of its line ends everything is stored and taken up again.
fn read_with_checkpoints(executor: &DynExecutor, log: &[u8], at_each_line: bool) -> Written {
    let transducer = Transducer::new(locating(executor.clone()), Written::default());
    let mut processor = Processor::with_framer(Records, transducer, LineFramer::default());
    let (mut begun, mut end) = (0, 0);
    while at_each_line && end < log.len() {
        end =
            log[end..].iter().position(|byte| *byte == b'\n').map_or(log.len(), |at| end + at + 1);
        processor.push(&log[begun..end], |()| {});
        let stored = processor.snapshot().to_json().unwrap();
        let written = std::mem::take(processor.emitter_mut());
        let stored = Snapshot::<LocatingState<Json>, PatchStreamState>::from_json(&stored).unwrap();
        begun = stored.framer.position.offset as usize;
        let reducer = locating(executor.clone());
        let restore = |state: Json| executor.restore(state.get());
        let snapshot = stored.try_map_state(|state| state.try_map(restore)).unwrap();
        processor = Processor::resume(Records, reducer, snapshot, written, DEFAULT_MAX_LINE);
    }
    processor.push(&log[begun..], |()| {});
    processor.finish(|()| {}).emitter
}

fn logs_in(folder: &Path, logs: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            logs_in(&path, logs);
        } else if path
            .extension()
            .is_some_and(|extension| extension.to_string_lossy().starts_with("json"))
        {
            logs.push(path);
        }
    }
}

/// `FOLDLINE_CAPTURES` names a folder with more logs. There, each is read by its own executor only.
#[test]
fn a_checkpoint_at_every_line_changes_nothing() {
    let mut logs = Vec::new();
    logs_in(
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("tests/fixtures").as_path(),
        &mut logs,
    );
    logs_in(
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("examples").as_path(),
        &mut logs,
    );
    let own = logs.len();
    if let Some(captures) = std::env::var_os("FOLDLINE_CAPTURES") {
        logs_in(Path::new(&captures), &mut logs);
    }
    assert!(own > 0);
    let mut read: Vec<(String, Vec<u8>)> = vec![("made up".to_owned(), log(200).into_bytes())];
    read.extend(logs.iter().map(|path| (path.display().to_string(), fs::read(path).unwrap())));
    let mut count = 0;
    for (number, (name, log)) in read.iter().enumerate() {
        for executor in Registry::builtin().iter() {
            let format = executor.format().name;
            if number > own && !name.contains(&format!("/{format}/")) {
                continue;
            }
            let whole = read_with_checkpoints(executor, log, false);
            let resumed = read_with_checkpoints(executor, log, true);
            assert!(whole.events == resumed.events, "{format}: {name}: other events");
            assert!(whole.patches == resumed.patches, "{format}: {name}: other patches");
            count += 1;
        }
    }
    eprintln!("{count} readings with checkpoints at every line");
}
