//! Says which commit a release is built from, and which tests find the tool that they need.

use std::{
    env, fs,
    path::PathBuf,
    process::{Command, Stdio},
};

/// The tools that tests need. Such tests are ignored where the tool is missing, unless `FOLDLINE_TEST_ALL` is set.
const TOOLS: [&str; 9] = [
    "chromedriver",
    "chromium",
    "openssl",
    "postgres",
    "promtool",
    "python3",
    "script",
    "strace",
    "systemd-analyze",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    find_tools();
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    // A development build would be built again after each commit.
    if !is_release {
        return;
    }
    if let Some(head) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={head}");
    }
    if let Some(commit) = git(&["rev-parse", "--short=10", "HEAD"]) {
        println!("cargo::rustc-env=FOLDLINE_COMMIT={commit}");
    }
}

/// Sets `has_<tool>` for each tool on the search path, and `has_registries` where registries of packages may be asked.
fn find_tools() {
    println!("cargo::rerun-if-env-changed=PATH");
    println!("cargo::rerun-if-env-changed=FOLDLINE_TEST_ALL");
    let all = env::var_os("FOLDLINE_TEST_ALL").is_some();
    let path = env::var_os("PATH").unwrap_or_default();
    // Debian does not put the server of PostgreSQL on the path.
    let servers = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let servers = servers.map(|version| version.path().join("bin"));
    let folders = env::split_paths(&path).chain(servers).filter(|folder| folder.is_dir());
    let folders: Vec<PathBuf> = folders.collect();
    for folder in &folders {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    for tool in TOOLS {
        let is_there = folders.iter().any(|folder| folder.join(tool).is_file());
        set(tool, all || (is_there && (tool != "strace" || strace_works())));
    }
    set("registries", all);
}

fn set(name: &str, is_there: bool) {
    let name = name.replace('-', "_");
    println!("cargo::rustc-check-cfg=cfg(has_{name})");
    if is_there {
        println!("cargo::rustc-cfg=has_{name}");
    }
}

/// Whether this process may trace others.
fn strace_works() -> bool {
    let mut strace = Command::new("strace");
    strace.args(["-o", "/dev/null", "true"]).stdin(Stdio::null());
    strace.output().is_ok_and(|output| output.status.success())
}

/// What `git` says, if it is there and this is a checkout.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| said.trim().to_owned())
}
