//! A signed trail: without the private key, signed records cannot be changed, and no record can be added.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use crate::logs::{droid, run, stdout};
use foldline_domain::{
    Digest,
    audit::{AuditChain, Head, SigningKey},
};
use tempfile::TempDir;

struct Place(TempDir);

impl Place {
    /// With logs `one` and `two`, and a pair of keys in `key` and `key.pub`.
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for (seed, name) in [(1, "one"), (2, "two")] {
            fs::write(place.file(name), droid(name, 2, seed)).unwrap();
        }
        place.keys("key", 1);
        place
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn path(&self, name: &str) -> String {
        self.file(name).to_str().unwrap().to_owned()
    }

    fn keys(&self, name: &str, secret: u8) {
        let key = SigningKey::from_secret([secret; 32]);
        self.write_private(name, &key.to_pem());
        fs::write(self.file(&format!("{name}.pub")), key.public_key().to_pem()).unwrap();
    }

    /// Writes a file that only its owner can read.
    fn write_private(&self, name: &str, text: &str) {
        let file = foldline::files::owner_only().write(true).create(true).open(self.file(name));
        file.unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn ingest(&self, log: &str, more: &[&str]) {
        let (log, db, trail) = (self.path(log), self.path("db"), self.path("trail"));
        stdout(&[&["ingest", &log, "--db", &db, "--audit", &trail], more].concat());
    }

    fn ingest_signed(&self, log: &str) {
        self.ingest(log, &["--sign", &self.path("key")]);
    }

    /// The exit code and the output of `foldline verify` with these keys. The other verifier
    /// agrees, where there is a Python to run it.
    fn verify(&self, keys: &[&str]) -> (i32, String) {
        let trail = self.path("trail");
        let mut arguments = vec!["verify".to_owned(), trail.clone()];
        arguments.extend(keys.iter().map(|key| format!("--key={}", self.path(key))));
        let output = run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let code = output.status.code().unwrap();
        if cfg!(has_python3) {
            let verdict = self.other_verdicts(keys, &[self.file("trail")]).remove(0);
            assert_eq!(verdict.starts_with("good"), code == 0, "{said}\n{verdict}");
        }
        (code, said)
    }

    /// What the other verifier says of these trails.
    fn other_verdicts(&self, keys: &[&str], trails: &[PathBuf]) -> Vec<String> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/verify_audit.py");
        let keys = keys.iter().flat_map(|key| ["--key".to_owned(), self.path(key)]);
        let output = Command::new("python3").arg(script).args(keys).args(trails).output().unwrap();
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    }

    fn refused(&self, keys: &[&str], reason: &str) {
        let (code, said) = self.verify(keys);
        assert_eq!(code, 1, "{said}");
        assert!(said.contains(reason), "{said}");
    }

    fn lines(&self) -> Vec<String> {
        let trail = fs::read_to_string(self.file("trail")).unwrap();
        trail.split_inclusive('\n').map(str::to_owned).collect()
    }

    fn write(&self, lines: &[String]) {
        fs::write(self.file("trail"), lines.concat()).unwrap();
    }
}

/// Rebuilds the chain from a record, as an attacker who knows the format can do. Without a key to sign with, the
/// signatures stay.
fn rechained(lines: &mut [String], from: usize, key: Option<&SigningKey>) {
    for at in from..lines.len() {
        let prev = match at {
            0 => Digest::default().to_string(),
            _ => record(&lines[at - 1]).0["hash"].as_str().unwrap().to_owned(),
        };
        let (_, mut record) = record(&lines[at]);
        record["prev"] = prev.into();
        record["seq"] = (at + 1).into();
        if let Some(key) = key.filter(|_| record["event"] == "signature") {
            let hash = record["prev"].as_str().unwrap().parse().unwrap();
            let mut chain = AuditChain::after(Head { count: at as u64, hash });
            let mut line = Vec::new();
            chain.append_signature(key, record["commits"].as_u64().unwrap(), &mut line);
            lines[at] = String::from_utf8(line).unwrap();
            continue;
        }
        let record = serde_json::to_string(&record).unwrap();
        let hash = Digest::of(record.as_bytes());
        lines[at] = format!("{{\"hash\":\"{hash}\",\"record\":{record}}}\n");
    }
}

fn record(line: &str) -> (serde_json::Value, serde_json::Value) {
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    let record = line["record"].clone();
    (line, record)
}

#[test]
#[cfg_attr(not(has_python3), ignore = "needs python3")]
fn another_verifier_agrees_of_signatures() {
    let place = Place::new();
    place.ingest_signed("one");
    assert_eq!(place.verify(&["key.pub"]).0, 0);
    let mut lines = place.lines();
    lines.remove(1);
    rechained(&mut lines, 1, None);
    place.write(&lines);
    assert_eq!(place.verify(&["key.pub"]).0, 1);
}

#[test]
fn each_commit_is_signed() {
    let place = Place::new();
    place.ingest_signed("one");
    place.ingest_signed("two");
    let (code, said) = place.verify(&["key.pub"]);
    let count = place.lines().len();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains(&format!("signed: record {count} and all before it, with ")), "{said}");
    let signatures = place.lines().iter().filter(|line| line.contains("\"signature\"")).count();
    assert_eq!(signatures, 3, "of the beginning, and of two commits");
    let (code, said) = place.verify(&[]);
    assert_eq!(code, 0, "{said}");
    let unknown = format!("signed: record {count} and all before it, by an unknown key, ");
    assert!(said.contains(&unknown), "{said}");
    // There is nothing new to sign.
    place.ingest_signed("two");
    assert_eq!(place.lines().len(), count);
}

#[test]
fn what_is_made_anew_without_the_key_is_found() {
    let place = Place::new();
    place.ingest_signed("one");
    let whole = place.lines();
    let other = SigningKey::from_secret([3; 32]);
    let changed = |change: &dyn Fn(&mut Vec<String>), key| {
        let mut lines = whole.clone();
        change(&mut lines);
        assert_ne!(lines, whole);
        rechained(&mut lines, 0, key);
        place.write(&lines);
    };
    let seq = whole.len();
    // The signature itself shows it.
    let told = |lines: &mut Vec<String>| lines[4] = lines[4].replace(":\"one\"", ":\"two\"");
    for keys in [&[][..], &["key.pub"]] {
        changed(&told, None);
        place.refused(keys, &format!("line {seq}: the signature in record {seq} is wrong"));
        changed(&|lines| drop(lines.remove(4)), None);
        place.refused(keys, "is wrong");
        changed(
            &|lines| lines[seq - 1] = lines[seq - 1].replace("\"commits\":", "\"commits\":1"),
            None,
        );
        place.refused(keys, "is wrong");
    }
    // Not if the attacker signs with an own key, which is not the known one.
    changed(&told, Some(&other));
    let (code, said) = place.verify(&[]);
    assert!(code == 0 && said.contains("by an unknown key"), "{said}");
    place.refused(&["key.pub"], "is signed with another key: ");
    changed(&|lines| lines.push(lines[4].clone()), None);
    assert_eq!(place.verify(&[]).0, 0, "the chain alone does not show it");
    place.refused(&["key.pub"], &format!("record {} is not signed", seq + 1));
    changed(&|lines| lines.extend([lines[4].clone(), lines[5].clone()]), None);
    place.refused(&["key.pub"], "are not signed");
    changed(&|lines| lines.retain(|line| !line.contains("\"signature\"")), None);
    place.refused(&["key.pub"], "it is not signed");
    place.write(&[]);
    place.refused(&["key.pub"], "it is not signed");
    // A cut at a signature is not found: the head is to be kept elsewhere.
    let first = whole.iter().position(|line| line.contains("\"signature\"")).unwrap();
    place.write(&whole[..=first]);
    assert_eq!(place.verify(&["key.pub"]).0, 0);
}

/// Of 400 manipulations, with and without a rebuilt chain, both verifiers say the same.
#[test]
#[cfg_attr(not(has_python3), ignore = "needs python3")]
fn another_verifier_agrees_of_manipulations() {
    let place = Place::new();
    place.keys("new", 2);
    place.ingest_signed("one");
    place.ingest("two", &["--sign", &place.path("new")]);
    let whole = place.lines();
    // An old key, and one of the attacker.
    let keys = [1, 3].map(|secret| SigningKey::from_secret([secret; 32]));
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let mut trails = Vec::new();
    for number in 0..400 {
        let mut lines = whole.clone();
        let signatures: Vec<_> =
            (0..lines.len()).filter(|at| lines[*at].contains("\"signature\"")).collect();
        let (at, other) = (random(lines.len()), random(lines.len()));
        match random(8) {
            0 => drop(lines.remove(at)),
            1 => lines.swap(at, other),
            2 => lines.insert(at, whole[other].clone()),
            3 => lines.truncate(at),
            4 => drop(lines.remove(signatures[random(signatures.len())])),
            kind => {
                let at = if kind == 5 { at } else { signatures[random(signatures.len())] };
                let mut bytes = lines[at].clone().into_bytes();
                // A digit or a letter becomes another one, so that the line often remains a record.
                let is_digit = |at: &usize| bytes[*at].is_ascii_digit();
                let digits: Vec<_> = (75..bytes.len()).filter(is_digit).collect();
                let place = digits[random(digits.len())];
                bytes[place] = b'0' + (bytes[place] - b'0' + 1) % 10;
                lines[at] = String::from_utf8(bytes).unwrap();
            }
        }
        let is_json =
            lines.iter().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok());
        match random(3) {
            0 if is_json => rechained(&mut lines, 0, None),
            1 if is_json => rechained(&mut lines, 0, Some(&keys[random(2)])),
            _ => {}
        }
        let trail = place.file(&format!("trail{number}"));
        fs::write(&trail, lines.concat()).unwrap();
        trails.push(trail);
    }
    for keys in [&[][..], &["key.pub", "new.pub"]] {
        let (mut good, options) = (0, keys.iter().map(|key| format!("--key={}", place.path(key))));
        let options: Vec<_> = options.collect();
        for (trail, verdict) in trails.iter().zip(place.other_verdicts(keys, &trails)) {
            let mut arguments = vec!["verify", trail.to_str().unwrap()];
            arguments.extend(options.iter().map(String::as_str));
            let output = run(&arguments);
            let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert_eq!(output.status.success(), verdict.starts_with("good"), "{said}\n{verdict}");
            good += usize::from(output.status.success());
        }
        // Without the keys, a chain that was rebuilt and signed again is good.
        assert_eq!(good > 40, keys.is_empty(), "{good} of 400");
    }
}

#[test]
fn another_key_is_told_and_a_key_may_be_changed() {
    let place = Place::new();
    place.keys("new", 2);
    place.ingest_signed("one");
    place.refused(&["new.pub"], "is signed with another key: ");
    place.ingest("two", &["--sign", &place.path("new")]);
    place.refused(&["key.pub"], "is signed with another key: ");
    let (code, said) = place.verify(&["key.pub", "new.pub"]);
    assert_eq!(code, 0, "{said}");
    // Each key has a range, in this order.
    place.refused(&["new.pub", "key.pub"], "with a key that a later one has succeeded: ");
    // The owner of the old key signs all of it again, or what follows.
    let mut lines = place.lines();
    rechained(&mut lines, 0, Some(&SigningKey::from_secret([1; 32])));
    place.write(&lines);
    assert_eq!(place.verify(&["key.pub"]).0, 0);
    place.refused(&["key.pub", "new.pub"], "is not of the last key that is given: ");
}

#[test]
fn a_key_that_was_succeeded_does_not_sign_again() {
    let place = Place::new();
    place.keys("new", 2);
    fs::write(place.file("three"), droid("three", 2, 3)).unwrap();
    place.ingest_signed("one");
    place.ingest("two", &["--sign", &place.path("new")]);
    place.ingest_signed("three");
    place.refused(&["key.pub", "new.pub"], "with a key that a later one has succeeded: ");
}

#[test]
fn a_head_of_zeros_is_refused() {
    let place = Place::new();
    place.ingest("one", &[]);
    let output = run(&["verify", &place.path("trail"), "--head", &"0".repeat(64)]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("a trail without records"));
}

#[test]
fn what_was_not_signed_at_first_is_signed_later() {
    let place = Place::new();
    place.ingest("one", &[]);
    place.refused(&["key.pub"], "it is not signed");
    place.ingest_signed("one");
    assert_eq!(place.verify(&["key.pub"]).0, 0);
    place.ingest("two", &[]);
    place.refused(&["key.pub"], "are not signed");
}

#[test]
fn an_ingest_that_does_not_sign_a_signed_trail_says_so() {
    let place = Place::new();
    let said = |log: &str, more: &[&str]| {
        let (log, db, trail) = (place.path(log), place.path("db"), place.path("trail"));
        let output = run(&[&["ingest", &log, "--db", &db, "--audit", &trail], more].concat());
        assert!(output.status.success());
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let key = place.path("key");
    let note = "the audit trail is signed, and what this run adds to it is not";
    assert!(!said("one", &["--sign", &key]).contains(note));
    // The end of the trail is not signed after the first of these.
    assert!(said("two", &[]).contains(note));
    assert!(said("two", &[]).contains(note));
    assert!(!said("two", &["--sign", &key]).contains(note));
}

#[test]
fn a_file_that_is_no_key_is_told() {
    let place = Place::new();
    let (log, db, trail) = (place.path("one"), place.path("db"), place.path("trail"));
    let refused = |key: &str, reason: &str| {
        let arguments =
            ["ingest", &log, "--db", &db, "--audit", &trail, "--sign", &place.path(key)];
        let output = run(&arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(reason) && said.contains(key), "{said}");
    };
    refused("two", "it is not an Ed25519 private key in PEM");
    refused("key.pub", "it is not an Ed25519 private key in PEM");
    let encrypted =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    place.write_private("secret", encrypted);
    refused("secret", "the key in it is encrypted");
    place.ingest("one", &[]);
    place.refused(&["key"], "it is not an Ed25519 public key in PEM");
    let output = run(&["ingest", &log, "--db", &db, "--sign", &place.path("key")]);
    assert_eq!(output.status.code(), Some(2), "a signature needs a trail");
}

#[test]
fn a_pair_of_keys_is_made_for_its_owner_and_never_over_another() {
    let place = Place::new();
    let said = stdout(&["audit-key", &place.path("mine")]);
    assert_eq!(said.lines().count(), 3);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(place.file("mine")).unwrap().permissions().mode() & 0o777, 0o600);
    }
    place.ingest("one", &["--sign", &place.path("mine")]);
    assert_eq!(place.verify(&["mine.pub"]).0, 0);
    let before = fs::read(place.file("mine")).unwrap();
    assert_eq!(run(&["audit-key", &place.path("mine")]).status.code(), Some(1));
    assert_eq!(fs::read(place.file("mine")).unwrap(), before);
    // No half of a pair is left.
    fs::write(place.file("half.pub"), "").unwrap();
    assert_eq!(run(&["audit-key", &place.path("half")]).status.code(), Some(1));
    assert!(!place.file("half").exists());
    assert_eq!(fs::read(place.file("half.pub")).unwrap(), b"");
}

#[test]
#[cfg(unix)]
fn a_private_key_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let (log, db, trail, key) =
        (place.path("one"), place.path("db"), place.path("trail"), place.path("key"));
    for (mode, code) in [(0o640, 1), (0o604, 1), (0o600, 0), (0o400, 0)] {
        fs::set_permissions(&key, fs::Permissions::from_mode(mode)).unwrap();
        let output = run(&["ingest", &log, "--db", &db, "--audit", &trail, "--sign", &key]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{said}");
        let reason = format!("its mode is {mode:04o}");
        assert_eq!(said.contains(&reason), code == 1, "{said}");
    }
}

#[test]
#[cfg_attr(not(has_openssl), ignore = "needs openssl")]
fn keys_are_those_of_openssl() {
    let place = Place::new();
    let openssl = |arguments: &[&str]| {
        let output = Command::new("openssl").args(arguments).current_dir(place.0.path()).output();
        let output = output.expect("openssl runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    openssl(&["genpkey", "-algorithm", "ed25519", "-out", "theirs"]);
    openssl(&["pkey", "-in", "theirs", "-pubout", "-out", "theirs.pub"]);
    place.ingest("one", &["--sign", &place.path("theirs")]);
    assert_eq!(place.verify(&["theirs.pub"]).0, 0);
    // And ours are read by it.
    let public = openssl(&["pkey", "-in", "key", "-pubout"]);
    assert_eq!(public, fs::read(place.file("key.pub")).unwrap());
}

/// The example of RFC 8410, section 10.
#[test]
fn keys_have_the_form_of_the_standard() {
    let private = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
-----END PRIVATE KEY-----
";
    let public = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
";
    let key = SigningKey::from_pem(private).unwrap();
    assert_eq!((key.to_pem(), key.public_key().to_pem()), (private.into(), public.into()));
    assert!(!format!("{key:?}").contains("d4ee72"), "the secret is not shown");
}
