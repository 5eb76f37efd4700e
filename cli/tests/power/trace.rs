//! The system calls of a run, as `strace` records them.

use std::{collections::HashMap, path::Path, process::Command};

/// What changes files, and what moves the place in a file where the next write goes. A name with a
/// question mark is one that some architectures do not have.
const CALLS: &str = "trace=openat,?open,?creat,close,?dup,?dup2,dup3,fcntl,lseek,read,readv,write,\
    writev,pwrite64,pwritev,?pwritev2,ftruncate,?truncate,fallocate,fsync,fdatasync,sync_file_range,\
    copy_file_range,sendfile,splice,?rename,renameat,?renameat2,?unlink,unlinkat,?link,linkat,\
    ?symlink,symlinkat,?mkdir,mkdirat,?rmdir";

/// A system call that succeeded.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) name: String,
    arguments: Vec<String>,
    pub(crate) result: u64,
    /// How many calls had ended when this one began: threads make them at the same time.
    pub(crate) before: usize,
}

/// The command that runs the program and records its calls in a file.
pub(crate) fn recorded(program: &str, record: &Path) -> Command {
    let mut command = Command::new("strace");
    // Strings in full, every byte in hexadecimal.
    command.args(["-f", "-q", "-xx", "-s", "100000000", "-e", CALLS, "-e", "signal=none", "-o"]);
    command.arg(record).arg(program);
    command
}

/// The calls of a record that succeeded, in the order in which they ended.
pub(crate) fn read(record: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut unfinished: HashMap<&str, (&str, usize)> = HashMap::new();
    for line in record.lines() {
        let (thread, said) = line.split_once(' ').unwrap();
        let said = said.trim_start();
        if let Some(begun) = said.strip_suffix(" <unfinished ...>") {
            unfinished.insert(thread, (begun, calls.len()));
            continue;
        }
        let (said, before) = match said.strip_prefix("<... ") {
            Some(resumed) => {
                let (begun, before) = unfinished.remove(thread).unwrap();
                let (_, rest) = resumed.split_once(" resumed>").unwrap();
                (format!("{begun}{rest}"), before)
            }
            None => (said.to_owned(), calls.len()),
        };
        calls.extend(Call::parse(&said, before));
    }
    calls
}

impl Call {
    /// `name(arguments) = result`; `None` for a call that failed, and for other lines.
    fn parse(said: &str, before: usize) -> Option<Self> {
        let (call, result) = said.rsplit_once(" = ")?;
        let result = result.split_whitespace().next()?;
        let result = match result.strip_prefix("0x") {
            Some(flags) => u64::from_str_radix(flags, 16).ok()?,
            None => result.parse().ok()?,
        };
        let (name, arguments) = call.trim_end().strip_suffix(')')?.split_once('(')?;
        let arguments = arguments.split(", ").map(str::to_owned).collect();
        Some(Self { name: name.to_owned(), arguments, result, before })
    }

    /// An argument as it is recorded.
    pub(crate) fn word(&self, nth: usize) -> &str {
        self.arguments.get(nth).map_or("", String::as_str)
    }

    /// An argument that is a number, such as a file descriptor.
    pub(crate) fn number(&self, nth: usize) -> i64 {
        self.word(nth).parse().unwrap()
    }

    /// An argument that is a string.
    pub(crate) fn text(&self, nth: usize) -> String {
        String::from_utf8(unescape(self.word(nth))).unwrap()
    }

    /// All strings among the arguments one after the other, as the bytes that a write writes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.arguments
            .iter()
            .filter(|word| word.contains('"'))
            .flat_map(|word| unescape(word))
            .collect()
    }
}

/// The bytes of a string such as `"\x2f\x74"`, or of the one within `{iov_base="\x2f\x74"`.
fn unescape(word: &str) -> Vec<u8> {
    let mut parts = word.split('"');
    let inside = parts.nth(1).unwrap();
    assert_eq!(parts.next().map(|rest| rest.contains("...")), Some(false), "the record was cut");
    let digits = inside.split("\\x").skip(1);
    digits.map(|digits| u8::from_str_radix(digits, 16).unwrap()).collect()
}
