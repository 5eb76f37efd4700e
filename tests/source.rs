//! Log files that grow, are rotated, replaced or truncated.
#![cfg(unix)]

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, SystemTime},
};

use foldline::{
    ledger::{Extent, Identity},
    source::{Follow, LogFile, Notice, Opener, Openers, SourceError, Step, StoredLog, Until},
};

/// A timeout that is longer than any test.
const LONG: Duration = Duration::from_secs(20);

/// A log in a separate folder.
struct Log {
    folder: tempfile::TempDir,
}

impl Log {
    fn new(text: &str) -> Self {
        let log = Self { folder: tempfile::tempdir().unwrap() };
        log.write("log", text);
        log
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Creates a file, or rewrites it in place.
    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn add(&self, text: &str) {
        let mut log = OpenOptions::new().append(true).open(self.path("log")).unwrap();
        log.write_all(text.as_bytes()).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    fn set_modified(&self, name: &str, time: SystemTime) {
        let file = OpenOptions::new().append(true).open(self.path(name)).unwrap();
        file.set_modified(time).unwrap();
    }

    fn follow(&self) -> Reader {
        Reader::new(Follow::open(self.path("log"), Until::Idle(LONG)).unwrap())
    }
}

/// The text read from a followed log. `|` marks the beginning of another file.
struct Reader {
    follow: Follow,
    text: String,
    notices: Vec<Notice>,
}

impl Reader {
    fn new(follow: Follow) -> Self {
        Self { follow, text: String::new(), notices: Vec::new() }
    }

    /// One step. Returns whether more may follow.
    fn step(&mut self) -> bool {
        match self.follow.step().unwrap() {
            Step::Bytes(bytes) => self.text += std::str::from_utf8(bytes).unwrap(),
            Step::Notice(notice) => self.notices.push(notice),
            Step::NextFile(notice) => {
                self.text += "|";
                self.notices.push(notice);
            }
            Step::Idle => {}
            Step::End => return false,
        }
        true
    }

    /// Reads until the whole text read so far is `text`.
    #[track_caller]
    fn expect(&mut self, text: &str) {
        while self.text != text {
            assert!(text.starts_with(&self.text) && self.step(), "{:?}, not {text:?}", self.text);
        }
    }

    #[track_caller]
    fn expect_end(&mut self) {
        let text = self.text.clone();
        while self.step() {}
        assert_eq!(self.text, text);
    }
}

#[test]
fn what_is_added_is_read() {
    let log = Log::new("one\ntw");
    let mut reader = log.follow();
    reader.expect("one\ntw");
    log.add("o\nthree\n");
    reader.expect("one\ntwo\nthree\n");
    assert_eq!(reader.follow.file().offset(), 14);
    assert!(reader.notices.is_empty());
}

#[test]
fn a_renamed_log_is_read_to_its_end_and_then_the_new_one() {
    let log = Log::new("one\n");
    let mut reader = log.follow();
    reader.expect("one\n");
    let mut old = OpenOptions::new().append(true).open(log.path("log")).unwrap();
    log.rename("log", "log.1");
    log.write("log", "four\n");
    old.write_all(b"two\n").unwrap();
    reader.expect("one\ntwo\n");
    old.write_all(b"three\n").unwrap();
    reader.expect("one\ntwo\nthree\n|four\n");
    assert_eq!(reader.notices, [Notice::Replaced { may_have_gap: false }]);
    assert_eq!(reader.follow.file().path(), log.path("log"));
}

#[test]
fn files_between_two_looks_are_read_in_their_order() {
    for [first, second, third] in [
        ["log.3", "log.2", "log.1"],
        ["log.11", "log.10", "log.9"],
        ["log-20260101", "log-20260102", "log-20260103"],
    ] {
        let log = Log::new("one\n");
        let mut reader = log.follow();
        reader.expect("one\n");
        log.rename("log", first);
        log.write(second, "two\n");
        log.write(third, "three\n");
        log.write("log", "four\n");
        reader.expect("one\n|two\n|three\n|four\n");
        let next = |name| Notice::RotatedAgain { next: log.path(name) };
        let replaced = Notice::Replaced { may_have_gap: false };
        assert_eq!(reader.notices, [next(second), next(third), replaced]);
    }
}

#[test]
fn where_the_file_before_is_gone_there_may_be_a_gap() {
    let log = Log::new("one\n");
    let mut reader = log.follow();
    reader.expect("one\n");
    log.add("two\n");
    fs::remove_file(log.path("log")).unwrap();
    log.write("log", "three\n");
    // The removed file is still open.
    reader.expect("one\ntwo\n|three\n");
    assert_eq!(reader.notices, [Notice::Replaced { may_have_gap: true }]);
}

#[test]
fn the_copy_of_a_truncated_log_is_read_to_its_end() {
    let begun = format!("{}\nhal", "one ".repeat(300));
    let log = Log::new(&begun);
    let mut reader = log.follow();
    reader.expect(&begun);
    log.add("f\ntwo\n");
    fs::copy(log.path("log"), log.path("log.1")).unwrap();
    File::create(log.path("log")).unwrap();
    log.add("three\n");
    // Another file with the same beginning, and a shorter one.
    log.write("log.2", &begun.replace("hal", "HAL"));
    log.write("log.3", "one ");
    reader.expect(&format!("{begun}f\ntwo\n|three\n"));
    let copied = Notice::Copied { to: log.path("log.1"), unread: 6 };
    let replaced = Notice::Replaced { may_have_gap: false };
    assert_eq!(reader.notices, [copied, replaced]);
}

/// Many logs have the same short beginning: the copy is newer than the log was, and older than the next copy.
#[test]
fn a_short_copy_is_recognised_by_its_time() {
    let log = Log::new("one\n");
    let mut reader = log.follow();
    reader.expect("one\n");
    log.write("log.3", "one\nof an earlier log\n");
    log.set_modified("log.3", SystemTime::now() - Duration::from_secs(60));
    log.write("log.2", "one\ntwo\n");
    log.write("log.1", "one\nthree\n");
    log.set_modified("log.2", SystemTime::now() + Duration::from_secs(10));
    log.set_modified("log.1", SystemTime::now() + Duration::from_secs(20));
    log.write("log", "");
    log.add("4\n");
    reader.expect("one\ntwo\n|one\nthree\n|4\n");
}

/// A log that is copied and truncated while it is empty, as after a rotation.
#[test]
fn a_file_that_was_empty_when_it_was_last_read_is_read_from_its_copy() {
    let log = Log::new(&"one\n".repeat(300));
    let begun = "one\n".repeat(300);
    let mut reader = log.follow();
    reader.expect(&begun);
    log.rename("log", "log.1");
    log.write("log", "");
    // Until the rotation is noticed.
    while reader.notices.is_empty() {
        reader.step();
    }
    log.rename("log.1", "log.2");
    log.write("log.1", "two\n");
    log.write("log", "three\n");
    reader.expect(&format!("{begun}||two\n|three\n"));
}

/// A log that is copied, truncated, and written to the same length with the same text.
#[test]
fn a_truncated_log_that_begins_like_its_copy_is_read_from_its_copy() {
    let begun = "one\n".repeat(300);
    let log = Log::new(&begun);
    let mut reader = log.follow();
    reader.expect(&begun);
    fs::copy(log.path("log"), log.path("log.1")).unwrap();
    log.write("log", "{\"line\":");
    reader.expect(&format!("{begun}|{{\"line\":"));
    log.rename("log.1", "log.2");
    log.write("log.1", "{\"line\":1}\n");
    log.write("log", "{\"line\":");
    log.set_modified("log", SystemTime::now() + Duration::from_secs(1));
    reader.expect(&format!("{begun}|{{\"line\":1}}\n|{{\"line\":"));
    log.add("2}\n");
    reader.expect(&format!("{begun}|{{\"line\":1}}\n|{{\"line\":2}}\n"));
}

/// As above, while it was not followed.
#[test]
fn a_log_that_begins_like_its_copy_is_resumed_in_its_copy() {
    let log = Log::new("zero\n");
    let identity = |read| LogFile::open(log.path("log")).unwrap().identity(read).unwrap().unwrap();
    let previous = identity(5);
    log.rename("log", "log.1");
    log.write("log", "{\"line\":");
    let left = identity(8);
    log.rename("log.1", "log.2");
    log.write("log.1", "{\"line\":1, and more}\n");
    log.write("log", "{\"line\":2, and more than that}\n");
    let follow = || Follow::open(log.path("log"), Until::Idle(LONG)).unwrap();
    let mut here = follow();
    assert_eq!(here.resume(&left).unwrap(), None);
    let mut copy = follow().after(previous);
    assert_eq!(copy.resume(&left).unwrap(), Some(Notice::Rotated { to: log.path("log.1") }));
    Reader::new(copy).expect("1, and more}\n|{\"line\":2, and more than that}\n");
}

#[test]
fn a_truncated_log_without_a_copy_is_read_again() {
    let log = Log::new("one\n");
    let mut reader = log.follow();
    reader.expect("one\n");
    // Shorter; the same length with other text; longer with other text.
    log.write("log", "2\n");
    reader.expect("one\n|2\n");
    let truncated = Notice::Truncated { read: 4, lost: 0 };
    assert_eq!(reader.notices, [truncated]);
    log.write("log", "three, which is longer\n");
    reader.expect("one\n|2\n|three, which is longer\n");
}

#[test]
fn what_is_known_to_be_lost_is_counted() {
    // More than one read returns.
    let log = Log::new(&"long\n".repeat(200_000));
    let mut reader = log.follow();
    assert!(reader.step());
    let read = reader.text.len() as u64;
    log.write("log", "new\n");
    let begun = reader.text.clone();
    reader.expect(&format!("{begun}|new\n"));
    assert_eq!(reader.notices, [Notice::Truncated { read, lost: 1_000_000 - read }]);
}

#[test]
fn another_text_of_the_same_length_is_noticed() {
    let log = Log::new("one\n");
    let mut reader = log.follow();
    reader.expect("one\n");
    // Rewritten in place at another time, since the resolution of file times depends on the system.
    log.write("log", "two\n");
    let later = SystemTime::now() + Duration::from_secs(2);
    OpenOptions::new().append(true).open(log.path("log")).unwrap().set_modified(later).unwrap();
    reader.expect("one\n|two\n");
    // Replaced by another file with the same name.
    log.write("new", "six\n");
    log.rename("new", "log");
    reader.expect("one\n|two\n|six\n");
    let truncated = Notice::Truncated { read: 4, lost: 0 };
    assert_eq!(reader.notices, [truncated, Notice::Replaced { may_have_gap: true }]);
}

#[test]
fn a_file_that_was_only_touched_is_read_on() {
    let log = Log::new("one\n");
    let mut reader = log.follow();
    reader.expect("one\n");
    let later = SystemTime::now() + Duration::from_secs(2);
    File::open(log.path("log")).unwrap().set_modified(later).unwrap();
    assert!(reader.step());
    log.add("two\n");
    reader.expect("one\ntwo\n");
}

/// Opens files of records that end with a semicolon.
struct Semicolons;

impl Opener for Semicolons {
    fn open(&self, _: &Path, _: &[u8]) -> Option<Box<dyn StoredLog>> {
        Some(Box::new(Records))
    }
}

#[derive(Debug)]
struct Records;

impl StoredLog for Records {
    fn write(&self, mut file: &File, out: &mut dyn Write) -> io::Result<()> {
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        match text.strip_suffix(';') {
            Some(_) => out.write_all(text.replace(';', "\n").as_bytes()),
            None => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

#[test]
fn of_a_document_that_is_rewritten_the_rest_is_read() {
    let log = Log::new("one;two;");
    let openers: Openers = [Arc::new(Semicolons) as Arc<dyn Opener>].into_iter().collect();
    let mut reader = Reader::new(openers.follow(log.path("log"), Until::Idle(LONG)).unwrap());
    reader.expect("one\ntwo\n");
    // In place, with a state between that is not complete, and by another file.
    log.write("log", "one;two;thr");
    assert!(reader.step());
    log.write("log", "one;two;three;");
    reader.expect("one\ntwo\nthree\n");
    log.write("new", "one;two;three;four;");
    log.rename("new", "log");
    reader.expect("one\ntwo\nthree\nfour\n");
    assert!(reader.notices.is_empty());
    log.write("log", "one;2;");
    reader.expect("one\ntwo\nthree\nfour\n|one\n2\n");
    assert_eq!(reader.notices, [Notice::Rewritten]);
}

#[test]
fn following_ends_when_it_is_idle_stopped_or_at_the_end() {
    let log = Log::new("one\n");
    let stop = Arc::new(AtomicBool::new(false));
    for until in [Until::EndOfFile, Until::Idle(Duration::ZERO), Until::Stopped] {
        let follow = Follow::open(log.path("log"), until).unwrap().with_stop(stop.clone());
        let mut reader = Reader::new(follow);
        reader.expect("one\n");
        stop.store(until == Until::Stopped, std::sync::atomic::Ordering::Relaxed);
        reader.expect_end();
    }
}

#[test]
fn following_does_not_end_before_the_file_that_has_the_name_is_read() {
    let log = Log::new("one\n");
    let mut reader =
        Reader::new(Follow::open(log.path("log"), Until::Idle(Duration::ZERO)).unwrap());
    log.rename("log", "log.1");
    log.write("log", "two\n");
    reader.expect("one\n|two\n");
    reader.expect_end();
}

/// Reads a log to its end and returns its identity.
fn read_once(log: &Log) -> Identity {
    let mut reader = Reader::new(Follow::open(log.path("log"), Until::EndOfFile).unwrap());
    while reader.step() {}
    let read = reader.text.len() as u64;
    reader.follow.identity(read).unwrap().unwrap()
}

#[test]
fn a_log_that_was_rotated_meanwhile_is_gone_on_with() {
    let log = Log::new("one\n");
    let left = read_once(&log);
    log.add("two\n");
    log.rename("log", "log.2");
    log.write("log.1", "three\n");
    log.write("log", "four\n");
    let mut reader = Reader::new(Follow::open(log.path("log"), Until::EndOfFile).unwrap());
    let notice = reader.follow.resume(&left).unwrap();
    assert_eq!(notice, Some(Notice::Rotated { to: log.path("log.2") }));
    reader.expect("two\n|three\n|four\n");
    reader.expect_end();
}

#[test]
fn a_log_that_is_another_one_is_not_gone_on_with() {
    let log = Log::new("one\n");
    let left = read_once(&log);
    for (text, is_shorter) in [("2\n", true), ("two\n", false), ("three\n", false)] {
        log.write("log", text);
        let mut follow = Follow::open(log.path("log"), Until::EndOfFile).unwrap();
        let error = follow.resume(&left).unwrap_err();
        let found = matches!(&error, SourceError::Unrecognised { is_shorter: found, .. } if *found == is_shorter);
        assert!(found && error.path() == log.path("log"), "{error}");
    }
    // A file with the same content is the same log.
    fs::remove_file(log.path("log")).unwrap();
    log.write("log", "one\ntwo\n");
    let mut reader = Reader::new(Follow::open(log.path("log"), Until::EndOfFile).unwrap());
    assert_eq!(reader.follow.resume(&left).unwrap(), None);
    reader.expect("two\n");
}

#[test]
fn a_log_that_was_cut_while_nobody_followed_it_is_read_from_its_beginning() {
    for text in ["2\n", "two\n", "three\n", ""] {
        let log = Log::new("one\nmo");
        let mut left = read_once(&log);
        left.read = Extent::of(b"one\n");
        log.write("log", text);
        let mut reader = log.follow();
        assert_eq!(reader.follow.resume(&left).unwrap(), None);
        // The new text is not mistaken for text already read.
        assert_eq!(reader.follow.identity(4).unwrap(), None);
        reader.expect(&format!("|{text}"));
        log.add("more\n");
        reader.expect(&format!("|{text}more\n"));
        assert_eq!(reader.notices, [Notice::Truncated { read: 4, lost: 2 }]);
        assert!(reader.follow.identity(4).unwrap().is_some());

        // Another file is not recognised as the log.
        fs::rename(log.path("log"), log.path("other")).unwrap();
        log.write("log", text);
        let error = log.follow().follow.resume(&left).unwrap_err();
        assert!(matches!(error, SourceError::Unrecognised { .. }), "{error}");
    }
}

#[test]
fn all_names_of_a_file_have_one_identity() {
    let log = Log::new("one\ntwo\n");
    fs::hard_link(log.path("log"), log.path("hard")).unwrap();
    std::os::unix::fs::symlink(log.path("log"), log.path("soft")).unwrap();
    fs::copy(log.path("log"), log.path("copy")).unwrap();
    let identity = |name| LogFile::open(log.path(name)).unwrap().identity(4).unwrap().unwrap();
    let this = identity("log");
    assert_eq!((this.size, this.read), (8, Extent::of(b"one\n")));
    assert_eq!(this, identity("hard"));
    assert_eq!(this, identity("soft"));
    let copy = identity("copy");
    assert!(this.is_same_file(&identity("hard")) && !this.is_same_file(&copy));
    assert_eq!(this.read, copy.read);
}

#[test]
fn what_is_known_of_an_open_file_is_not_that_of_its_successor() {
    let log = Log::new("one\n");
    let mut file = LogFile::open_regular(log.path("log")).unwrap();
    let before = file.identity(4).unwrap().unwrap();
    log.rename("log", "log.1");
    log.write("log", "another one\n");
    assert_eq!(file.identity(4).unwrap(), Some(before));
    assert_eq!(file.length().unwrap(), Some(4));
    assert_eq!(file.read().unwrap(), b"one\n");
    let mut another = LogFile::open_regular(log.path("log")).unwrap();
    assert!(!another.starts_with(&before).unwrap());
    // A file that is shorter than the text read has no identity.
    File::create(log.path("log.1")).unwrap();
    assert_eq!(file.identity(4).unwrap(), None);
    assert!(!file.starts_with(&before).unwrap());
}

#[test]
fn a_look_at_a_file_does_not_move_it() {
    let log = Log::new("one\ntwo\n");
    let mut file = LogFile::open(log.path("log")).unwrap();
    file.seek(4).unwrap();
    assert_eq!(file.read_ahead().unwrap(), b"two\n");
    assert_eq!(file.read_at(1, 3).unwrap(), b"ne\n");
    assert_eq!(file.read_at(7, 3).unwrap(), b"\n");
    file.identity(3).unwrap().unwrap();
    assert_eq!(file.read_ahead().unwrap(), b"");
    assert_eq!((file.offset(), file.read().unwrap()), (4, &b"two\n"[..]));
    log.add("three\n");
    assert_eq!(file.read().unwrap(), b"three\n");
    assert_eq!(file.read().unwrap(), b"");
}

#[test]
fn what_was_read_ahead_of_a_pipe_comes_again() {
    let (reader, mut writer) = io::pipe().unwrap();
    let mut file = LogFile::stream("-", reader);
    let mut ahead = Vec::new();
    for text in ["one\n", "two\n"] {
        writer.write_all(text.as_bytes()).unwrap();
        ahead.extend_from_slice(file.read_ahead().unwrap());
    }
    writer.write_all(b"three\n").unwrap();
    drop(writer);
    assert_eq!((file.offset(), &*ahead), (0, &b"one\ntwo\n"[..]));
    assert_eq!(file.read().unwrap(), ahead);
    assert_eq!(file.read().unwrap(), b"three\n");
    assert_eq!((file.read().unwrap().len(), file.offset()), (0, 14));
    // It has no length and no identity, and is not seekable.
    assert_eq!((file.length().unwrap(), file.identity(0).unwrap()), (None, None));
    assert!(matches!(file.seek(0), Err(SourceError::Read { .. })));
    assert!(file.read_at(0, 1).is_err());
}

#[test]
fn a_pipe_is_no_regular_file_and_opening_it_does_not_wait() {
    let log = Log::new("");
    let pipe = log.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let not_regular = |result: Result<LogFile, SourceError>| {
        matches!(result, Err(SourceError::NotRegular { .. }))
    };
    assert!(not_regular(LogFile::open_regular(&pipe)));
    assert!(not_regular(LogFile::open_regular(log.folder.path())));
    assert!(Follow::open(&pipe, Until::Stopped).is_err());
    // A pipe next to a log is not taken for a copy of it.
    let mut reader = log.follow();
    log.add("one\n");
    reader.expect("one\n");
    log.rename("pipe", "log.1");
    log.write("log", "2\n");
    reader.expect("one\n|2\n");
}

#[test]
fn what_cannot_be_opened_is_named() {
    let missing = LogFile::open_regular("no/such/log").unwrap_err();
    assert!(missing.is_not_found() && missing.path() == Path::new("no/such/log"));
    assert!(missing.to_string().starts_with("cannot open no/such/log: "), "{missing}");
    let folder = tempfile::tempdir().unwrap();
    let error = LogFile::open(folder.path()).unwrap_err();
    assert!(error.to_string().contains("is a directory") && !error.is_not_found(), "{error}");
}

/// What gzip makes of a text.
fn gzip(text: &str) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

/// What Zstandard makes of a text: two frames, and between them one that is to be skipped.
fn zstandard(text: &str) -> Vec<u8> {
    let (first, second) = text.split_at(text.len() / 3);
    let frame = |text: &str| {
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        ruzstd::encoding::compress_to_vec(text.as_bytes(), level)
    };
    let skipped = [&[0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    [frame(first), skipped, frame(second)].concat()
}

#[test]
fn a_compressed_file_is_its_content() {
    let text: String = (0..200_000).map(|line| format!("{line}\n")).collect();
    for (pack, may_be_padded) in [(gzip as fn(&str) -> Vec<u8>, true), (zstandard, false)] {
        let log = Log::new("");
        log.write("log", &text);
        let packed = pack(&text);
        fs::write(log.path("packed"), &packed).unwrap();
        let mut plain = LogFile::open_regular(log.path("log")).unwrap();
        let mut file = LogFile::open_regular(log.path("packed")).unwrap();
        assert_eq!(file.length().unwrap(), Some(text.len() as u64));
        // Forwards, backwards, over both ends.
        for offset in
            [0, 5000, 1_000_000, 4095, 400_000, 4096, 0, text.len() - 10, text.len(), 2_000_000]
        {
            let read = file.read_at(offset as u64, 5000).unwrap();
            assert_eq!(read, plain.read_at(offset as u64, 5000).unwrap(), "{offset}");
            let of = |file: &mut LogFile| {
                let identity = file.identity(offset as u64).unwrap();
                identity.map(|identity| (identity.size, identity.read, identity.content))
            };
            assert_eq!(of(&mut file), of(&mut plain), "{offset}");
        }
        let mut whole = Vec::new();
        while let bytes @ [_, ..] = file.read().unwrap() {
            whole.extend_from_slice(bytes);
        }
        assert!(whole == text.as_bytes());
        // Zeros after the content are padding, and other bytes are an error.
        let padded = [&packed[..], &[0; 10_000]].concat();
        for (rest, is_padding) in [(&[][..], true), (b"x", false)] {
            fs::write(log.path("padded"), [&padded, rest].concat()).unwrap();
            let length = LogFile::open_regular(log.path("padded")).and_then(|file| file.length());
            let expected = is_padding && may_be_padded;
            assert_eq!(length.ok() == Some(Some(text.len() as u64)), expected);
        }
        // What is torn is an error, and not the end.
        fs::write(log.path("torn"), &packed[..packed.len() / 2]).unwrap();
        let torn = LogFile::open_regular(log.path("torn"));
        assert!(torn.and_then(|torn| torn.length()).is_err());
    }
}
