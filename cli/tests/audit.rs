//! Whatever is done to an audit trail or to its log is found: by `foldline verify`, and by a verifier
//! in Python that shares nothing with it but the description of the format.

use std::{
    cell::RefCell,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use foldline::{processor::Processor, transduce::Transducer};
use foldline_agents::{Records, Registry};
use foldline_domain::{
    audit::{AuditChain, AuditTrail, Head, verify},
    locating,
};
use proptest::prelude::*;
use tempfile::TempDir;

const LOG: &str = "\u{FEFF}{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/p\",\"session_id\":\"s1\",\"model\":\"m-1\"}\r
{\"type\":\"message\",\"role\":\"user\",\"id\":\"u1\",\"text\":\"Do it: \\u00e9 \\\"quoted\\\"\\n\\u0007\",\"timestamp\":1000,\"session_id\":\"s1\"}

{\"type\":\"tool_call\",\"id\":\"c1\",\"messageId\":\"a1\",\"toolName\":\"Execute\",\"parameters\":{\"command\":\"make\"},\"timestamp\":2000,\"session_id\":\"s1\"}
{\"type\":\"tool_result\",\"id\":\"c1\",\"messageId\":\"r1\",\"isError\":false,\"value\":\"ok\",\"timestamp\":2010,\"session_id\":\"s1\"}
{\"type\":\"completion\",\"finalText\":\"Done.\",\"numTurns\":1,\"durationMs\":9,\"timestamp\":3000,\"session_id\":\"s1\"}
";

/// A folder with a log and its trail.
struct Case {
    dir: TempDir,
    /// The emitter of the trail, with the state after the last record.
    trail: RefCell<AuditTrail>,
}

impl Case {
    fn new() -> Self {
        let mut trail = AuditTrail::default();
        trail.chain_mut().set_task(Some("t-1".into()));
        let case = Self { dir: tempfile::tempdir().expect("a folder"), trail: trail.into() };
        fs::write(case.log(), LOG).expect("the log is written");
        case.record("log.jsonl", LOG);
        case
    }

    /// Adds the records of a log.
    fn record(&self, name: &str, log: &str) {
        let executor = Registry::builtin().named("droid").cloned().expect("an executor");
        let mut trail = self.trail.borrow_mut();
        trail.chain_mut().set_log(Some(name));
        let transducer = Transducer::new(locating(executor), &mut *trail);
        let mut processor = Processor::new(Records, transducer).with_line_hashes();
        let mut lines = fs::read_to_string(self.trail()).unwrap_or_default();
        let mut add = |line: String| lines += &(line + "\n");
        processor.push(log.as_bytes(), &mut add);
        processor.finish(&mut add);
        fs::write(self.trail(), lines).expect("the trail is written");
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("log.jsonl")
    }

    fn trail(&self) -> PathBuf {
        self.dir.path().join("trail.jsonl")
    }

    fn lines(&self) -> Vec<String> {
        let trail = fs::read_to_string(self.trail()).expect("a trail in UTF-8");
        trail.split_inclusive('\n').map(str::to_owned).collect()
    }

    fn head(&self) -> String {
        let last: serde_json::Value =
            serde_json::from_str(self.lines().last().expect("a record")).expect("JSON");
        last["hash"].as_str().expect("a hash").to_owned()
    }

    /// Both verifiers say the same of a trail with these lines: what foldline says.
    fn verdict(&self, lines: &[String]) -> String {
        fs::write(self.trail(), lines.concat()).expect("the trail is written");
        self.check(&[])
    }

    /// The report of `foldline verify`. The other verifier agrees, if there is a Python to run it.
    fn check(&self, args: &[&str]) -> String {
        let (code, said) = foldline(&self.trail(), args);
        if cfg!(has_python3) {
            let log = args.contains(&"--source").then(|| self.log());
            let verdicts = python(&[&self.trail()], log);
            assert_eq!(verdicts[0].starts_with("good"), code == 0, "{said}\n{}", verdicts[0]);
            let place = verdicts[0].split(':').next().filter(|place| place.starts_with("line "));
            if let Some(place) = place.filter(|_| !said.contains("was made from")) {
                assert!(said.contains(&format!(": {place}: ")), "{place}, but: {said}");
            }
        }
        said
    }
}

/// The exit code and the output of `foldline verify`.
fn foldline(trail: &Path, args: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_foldline"))
        .arg("verify")
        .arg(trail)
        .args(args)
        .current_dir(trail.parent().expect("a folder"))
        .output();
    let Output { status, stdout, stderr } = output.expect("the program runs");
    let said = String::from_utf8([stdout, stderr].concat()).expect("text");
    (status.code().expect("an exit code"), said)
}

/// The verdicts of the other verifier.
fn python(trails: &[&Path], log: Option<PathBuf>) -> Vec<String> {
    let script =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("tests/verify_audit.py");
    let mut command = Command::new("python3");
    command.arg(script);
    if let Some(log) = log {
        command.arg("--log").arg(log);
    }
    let output = command.args(trails).output().expect("python3 runs");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let verdicts = String::from_utf8(output.stdout).expect("text");
    verdicts.lines().map(str::to_owned).collect()
}

#[test]
fn a_whole_trail_is_good() {
    let case = Case::new();
    let head = case.head();
    let said = case.check(&["--source", "log.jsonl", "--head", &head]);
    let count = case.lines().len();
    assert!(said.starts_with(&format!("good: {count} records\n")), "{said}");
    assert!(said.contains(&format!("log: {count} records with an unchanged line")), "{said}");
    assert!(said.contains("the given head is the last record"), "{said}");
    assert!(said.ends_with(&format!("head: {head}\n")), "{said}");
    assert_eq!(case.verdict(&[]).lines().next(), Some("good: 0 records"));
}

#[test]
fn a_changed_record_is_found() {
    let case = Case::new();
    let mut lines = case.lines();
    let changed = lines[2].replace("m-1", "m-2");
    assert_ne!(changed, lines[2]);
    lines[2] = changed;
    let said = case.verdict(&lines);
    assert!(said.contains("line 3: record 3 was changed"), "{said}");
}

#[test]
fn a_removed_record_is_found() {
    let case = Case::new();
    let mut lines = case.lines();
    lines.remove(1);
    let said = case.verdict(&lines);
    assert!(
        said.contains("line 2: found record 3, expected record 2: record 2 was removed"),
        "{said}"
    );
    lines.drain(1..3);
    let said = case.verdict(&lines);
    assert!(said.contains("records 2 to 4 were removed"), "{said}");
}

#[test]
fn swapped_records_are_found() {
    let case = Case::new();
    let mut lines = case.lines();
    lines.swap(1, 3);
    let said = case.verdict(&lines);
    assert!(
        said.contains(
            "line 2: found record 4, expected record 2, which is on line 4: records were reordered"
        ),
        "{said}"
    );
}

#[test]
fn an_inserted_record_is_found() {
    let case = Case::new();
    let whole = case.lines();
    let mut lines = whole.clone();
    lines.insert(3, whole[1].clone());
    let said = case.verdict(&lines);
    assert!(said.contains("line 4: found record 2 again, expected record 4"), "{said}");
    assert!(said.contains("inserted"), "{said}");

    // One that was forged with care: its number, its predecessor and its hash are right.
    let forged = forge(&whole[2], "model: m-1", "model: m-2");
    let mut lines = whole.clone();
    lines.insert(2, forged.clone());
    let said = case.verdict(&lines);
    assert!(said.contains("line 4: found record 3 again, expected record 4"), "{said}");

    // One that takes the place of another.
    let mut lines = whole.clone();
    lines[2] = forged;
    let said = case.verdict(&lines);
    assert!(said.contains("line 4: record 4 is not linked to the previous record"), "{said}");
}

/// The record with other contents, and the hash that they have.
fn forge(line: &str, from: &str, to: &str) -> String {
    let start = line.find("\"record\":").expect("a record") + "\"record\":".len();
    let record = line[start..].trim_end().strip_suffix('}').expect("an object").replace(from, to);
    let hash = foldline_domain::Digest::of(record.as_bytes());
    format!("{{\"hash\":\"{hash}\",\"record\":{record}}}\n")
}

#[test]
fn a_torn_end_is_found() {
    let case = Case::new();
    let mut lines = case.lines();
    let last = lines.pop().expect("a record");
    let count = lines.len() + 1;
    for torn in [&last[..last.len() - 1], &last[..40]] {
        let mut lines = lines.clone();
        lines.push(torn.to_owned());
        let said = case.verdict(&lines);
        assert!(said.contains(&format!("line {count}: record {count} was damaged")), "{said}");
    }
}

#[test]
fn a_cut_end_shows_only_with_the_head() {
    let case = Case::new();
    let head = case.head();
    let mut lines = case.lines();
    lines.truncate(3);
    let said = case.verdict(&lines);
    assert!(said.starts_with("good: 3 records"), "{said}");
    assert!(said.contains("without --head, a truncated end is not detected"), "{said}");
    let (code, said) = foldline(&case.trail(), &["--head", &head]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("the end of the trail was truncated"), "{said}");
}

#[test]
fn an_earlier_head_is_still_in_the_trail() {
    let case = Case::new();
    let (earlier, count) = (case.head(), case.lines().len());
    case.record("log.jsonl", LOG);
    let (code, said) = foldline(&case.trail(), &["--head", &earlier]);
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains(&format!("the given head is record {count}, with {count} later records")),
        "{said}"
    );
}

#[test]
fn a_changed_log_is_found() {
    let case = Case::new();
    let source = ["--source", "log.jsonl"];
    for (from, to, line) in [("make", "mate", 4), ("\u{FEFF}{", "\u{FEFF} {", 1), ("\n\n", "\n", 4)]
    {
        fs::write(case.log(), LOG.replacen(from, to, 1)).expect("the log is changed");
        let said = case.check(&source);
        assert!(
            said.contains(&format!("was made from line {line} of log.jsonl, which was changed")),
            "{said}"
        );
    }
    let end = LOG.find("{\"type\":\"completion\"").expect("a completion");
    fs::write(case.log(), &LOG[..end]).expect("the log is cut");
    let said = case.check(&source);
    assert!(
        said.contains("was made from line 6 of log.jsonl, which has only 5 lines now"),
        "{said}"
    );
    fs::write(case.log(), LOG.replace('\r', "")).expect("the log is changed");
    assert!(case.check(&source).starts_with("good"), "line ends are not part of a line");
}

#[test]
fn logs_are_told_apart_by_their_names() {
    let case = Case::new();
    let other = case.dir.path().join("other.jsonl");
    fs::write(&other, LOG.replace("make", "test")).expect("another log");
    let (code, said) = foldline(&case.trail(), &["--source", "other.jsonl"]);
    assert_eq!(code, 1);
    assert!(
        said.contains("no record names other.jsonl; it begins as log.jsonl does, but"),
        "{said}"
    );

    case.record("other.jsonl", &LOG.replace("make", "test"));
    let (code, said) =
        foldline(&case.trail(), &["--source", "log.jsonl", "--source", "other.jsonl"]);
    assert_eq!(code, 0, "{said}");
    let (code, said) = foldline(&case.trail(), &["--source", "log.jsonl"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("records of other logs"), "{said}");
}

#[test]
fn wrong_use_and_unreadable_files_have_their_exit_codes() {
    let case = Case::new();
    assert_eq!(foldline(&case.trail(), &["--head", "abc"]).0, 2);
    assert_eq!(foldline(&case.trail(), &["--nonsense"]).0, 2);
    assert_eq!(foldline(&case.dir.path().join("none"), &[]).0, 4);
    assert_eq!(foldline(&case.trail(), &["--source", "none"]).0, 4);
}

/// The beginning of a trail that belongs to a ledger.
fn begun(trail: &str) -> (AuditChain, String) {
    let mut line = Vec::new();
    let chain = AuditChain::of_ledger("l1", trail, 2, &mut line);
    (chain, String::from_utf8(line).expect("text"))
}

#[test]
fn a_trail_says_which_ledger_it_belongs_to_and_what_is_missing() {
    let case = Case::new();
    let (mut chain, mut trail) = begun("t1");
    let mut gap = Vec::new();
    chain.append_gap(2, 5, &mut gap);
    trail += str::from_utf8(&gap).expect("text");
    fs::write(case.trail(), &trail).expect("the trail is written");
    let said = case.check(&[]);
    assert!(said.starts_with("good: 2 records\nledger: l1\n"), "{said}");
    assert!(said.contains("missing: 2 commits made before the trail was begun\n"), "{said}");
    assert!(said.contains("missing: 3 commits made without it before record 2\n"), "{said}");
}

#[test]
fn a_trail_within_a_trail_is_found() {
    let case = Case::new();
    let (chain, first) = begun("t1");
    let (_, second) = begun("t2");
    let zeros = Head::default().hash.to_string();
    let second = forge(&second, &zeros, &chain.head().hash.to_string());
    let second = forge(&second, "\"seq\":1", "\"seq\":2");
    let said = case.verdict(&[first, second]);
    assert!(said.contains("line 2: record 2 begins a trail: two trails were joined"), "{said}");
}

/// The trail is one more output of the fan-out: of a replay, also of one that is resumed, and of a run.
#[test]
fn every_verb_that_writes_outputs_writes_a_trail() {
    let case = Case::new();
    let folder = case.dir.path();
    let foldline = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_foldline"))
            .args(arguments)
            .current_dir(folder)
            .output()
            .expect("the program runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let metrics =
        foldline(&["replay", "log.jsonl", "--format", "metrics", "--sink", "audit=trail"]);
    assert!(String::from_utf8_lossy(&metrics).contains("foldline_lines_total 6"));
    let whole = fs::read(folder.join("trail")).expect("the trail");
    let (code, said) = foldline_verify(folder, "trail", "log.jsonl");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("with an unchanged line"), "{said}");
    assert!(!said.contains("not compared"), "the end of the session has a line too: {said}");

    // In two goes, of which the second one continues the chain.
    let checkpointed = ["replay", "part.jsonl", "--executor", "droid", "--format", "events"];
    let checkpointed = [
        &checkpointed[..],
        &["--out", "events", "--checkpoint", "journal", "--sink", "audit=part.trail"],
    ]
    .concat();
    fs::write(folder.join("part.jsonl"), &LOG[..LOG.len() / 2]).expect("a part of the log");
    foldline(&checkpointed);
    fs::write(folder.join("part.jsonl"), LOG).expect("the rest of the log");
    foldline(&checkpointed);
    let trail = fs::read_to_string(folder.join("part.trail")).expect("the trail");
    let whole = String::from_utf8(whole).expect("text");
    assert_eq!(trail.lines().count(), whole.lines().count());
    assert!(good(trail.as_bytes()).is_some());

    foldline(&["run", "--log", "run.jsonl", "--sink", "audit=run.trail", "--", "cat", "log.jsonl"]);
    let (code, said) = foldline_verify(folder, "run.trail", "run.jsonl");
    assert_eq!(code, 0, "{said}");
}

fn foldline_verify(folder: &Path, trail: &str, log: &str) -> (i32, String) {
    foldline(&folder.join(trail), &["--source", log])
}

fn good(trail: &[u8]) -> Option<Head> {
    verify(trail, |_| {}).expect("memory can be read").ok()
}

/// No byte of a trail can be changed: each is flipped once.
#[test]
#[cfg_attr(not(has_python3), ignore = "needs python3")]
fn every_flipped_byte_is_found_by_both() {
    let case = Case::new();
    let whole = fs::read(case.trail()).expect("the trail");
    let mut flipped = Vec::new();
    for at in 0..whole.len() {
        let mut trail = whole.clone();
        trail[at] ^= 1 << (at % 8);
        assert_eq!(good(&trail), None, "byte {at} of the trail");
        let path = case.dir.path().join(at.to_string());
        fs::write(&path, trail).expect("a flipped trail");
        flipped.push(path);
    }
    let paths: Vec<_> = flipped.iter().map(PathBuf::as_path).collect();
    for (at, verdict) in python(&paths, None).iter().enumerate() {
        assert!(verdict.starts_with("line "), "byte {at} of the trail: {verdict}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Of all changes of the records, only truncating the end leaves a valid trail.
    #[test]
    fn any_other_choice_and_order_of_records_is_found(
        choice in prop::collection::vec(0_usize..6, 0..8),
    ) {
        let case = Case::new();
        let lines = case.lines();
        let trail: String = choice.iter().map(|index| lines[*index].as_str()).collect();
        let prefix = choice.iter().copied().eq(0..choice.len());
        prop_assert_eq!(good(trail.as_bytes()).is_some(), prefix);
    }

    #[test]
    fn any_other_byte_is_found(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let case = Case::new();
        let mut trail = fs::read(case.trail()).expect("the trail");
        let at = at.index(trail.len());
        prop_assume!(trail[at] != byte);
        trail[at] = byte;
        prop_assert_eq!(good(&trail), None);
    }
}
