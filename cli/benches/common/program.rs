//! The program as a process: its memory, its start, its latency.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::expect_used)]

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_foldline");

fn piped(program: &str, args: &[&str]) -> Child {
    Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// The program's peak memory in KiB after reading `log` `times` times. Linux only; 0 elsewhere.
pub fn peak_memory(log: &[u8], times: usize) -> u64 {
    let mut child = piped(PROGRAM, &["replay", "-", "-e", "droid", "--format", "patches"]);
    let mut stdout = child.stdout.take().expect("it is piped");
    let drain = thread::spawn(move || {
        let mut buffer = vec![0; 1 << 20];
        while stdout.read(&mut buffer).is_ok_and(|read| read > 0) {}
    });
    let mut stdin = child.stdin.take().expect("it is piped");
    for _ in 0..times {
        stdin.write_all(log).expect("the program reads");
    }
    stdin.flush().expect("the program reads");
    // It has read everything except the contents of the pipe, and runs until its input ends.
    thread::sleep(Duration::from_millis(300));
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let peak = peak_of(&status);
    drop(stdin);
    drain.join().expect("the reader ends");
    child.wait().expect("the program ends");
    peak.unwrap_or(0)
}

/// The duration of a run with these arguments, and its peak memory in KiB (Linux only).
pub fn measured(arguments: &[&str]) -> (Duration, u64) {
    let start = Instant::now();
    let mut command = Command::new(PROGRAM);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program starts");
    let status = format!("/proc/{}/status", child.id());
    let (ended, has_ended) = channel::<()>();
    let watch = thread::spawn(move || {
        let mut peak = 0;
        while has_ended.recv_timeout(Duration::from_millis(1)) == Err(RecvTimeoutError::Timeout) {
            peak = peak.max(peak_of(&fs::read_to_string(&status).unwrap_or_default()).unwrap_or(0));
        }
        peak
    });
    let exit = child.wait().expect("the program ends");
    let time = start.elapsed();
    drop(ended);
    assert!(exit.success(), "{arguments:?}");
    (time, watch.join().expect("the watch ends"))
}

/// The peak memory in KiB, from the status of a process.
fn peak_of(status: &str) -> Option<u64> {
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    peak.trim().trim_end_matches(" kB").parse().ok()
}

/// Compiles a program that does nothing, as the baseline of a start.
pub fn empty_program(folder: &Path) -> Option<String> {
    let (source, program) = (folder.join("empty.rs"), folder.join("empty"));
    fs::write(&source, "fn main() {}").ok()?;
    let status = Command::new("rustc").args(["-O", "-o"]).arg(&program).arg(&source).status();
    status.ok()?.success().then(|| program.to_string_lossy().into_owned())
}

/// The latency of a line through a program that reads from a pipe: the median and the 99th percentile.
pub fn latency(
    program: &str,
    args: &[&str],
    line: impl Fn(usize) -> String,
) -> (Duration, Duration) {
    let mut child = piped(program, args);
    let stdin = child.stdin.take().expect("it is piped");
    let times = line_times(stdin, child.stdout.take().expect("it is piped"), line);
    child.wait().expect("the program ends");
    times
}

/// The same for a shell command that follows the file `log`, which is its `$0`.
pub fn follow_latency(
    command: &str,
    log: &Path,
    line: impl Fn(usize) -> String,
) -> (Duration, Duration) {
    let file = fs::File::create(log).expect("the log is made");
    let mut child = Command::new("sh")
        .args(["-c", command])
        .arg(log)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the shell starts");
    // The program finds the log within some milliseconds, and follows it from then on.
    thread::sleep(Duration::from_millis(300));
    let times = line_times(file, child.stdout.take().expect("it is piped"), line);
    child.wait().expect("the command ends");
    times
}

/// Writes 5,000 lines within a second, and reads until all have arrived.
fn line_times(
    mut writer: impl Write,
    reader: impl Read + Send + 'static,
    line: impl Fn(usize) -> String,
) -> (Duration, Duration) {
    const LINES: usize = 5_000;
    let reader = thread::spawn(move || {
        let lines = BufReader::new(reader).lines().map_while(Result::ok);
        lines.map(|line| (line, Instant::now())).collect::<Vec<_>>()
    });
    let begin = Instant::now();
    let mut sent = Vec::with_capacity(LINES);
    for number in 0..LINES {
        let due = begin + Duration::from_micros(200) * number as u32;
        while Instant::now() < due {
            thread::sleep(Duration::from_micros(50));
        }
        let line = line(number);
        sent.push(Instant::now());
        writer.write_all(line.as_bytes()).expect("the program reads");
    }
    drop(writer);
    let received = reader.join().expect("the reader ends");
    // The text of a line contains its number as `<number>`.
    let mut times: Vec<_> = received
        .iter()
        .filter_map(|(line, at)| {
            let number: usize = line.split_once('<')?.1.split_once('>')?.0.parse().ok()?;
            Some(at.saturating_duration_since(*sent.get(number)?))
        })
        .collect();
    times.sort_unstable();
    assert!(times.len() >= LINES, "every line arrives");
    (times[times.len() / 2], times[times.len() * 99 / 100])
}
