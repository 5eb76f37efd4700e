//! Says whether tests find PostgreSQL, and what brokers need: Java, Python, and the brokers themselves, which
//! `fleet/broker fetch` has fetched.

use std::{env, fs, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PATH");
    println!("cargo::rerun-if-env-changed=FOLDLINE_TEST_ALL");
    println!("cargo::rerun-if-env-changed=FOLDLINE_BROKER_JARS");
    println!("cargo::rustc-check-cfg=cfg(has_brokers, has_postgres)");
    let jars = env::var("FOLDLINE_BROKER_JARS").unwrap_or("../target/fleet/jars".to_owned());
    let path = env::var_os("PATH").unwrap_or_default();
    let is_there = |tool| env::split_paths(&path).any(|folder| folder.join(tool).is_file());
    println!("cargo::rustc-check-cfg=cfg(has_promtool, has_prometheus)");
    let brokers = Path::new(&jars).is_dir() && is_there("java") && is_there("python3");
    let servers = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let is_postgres = is_there("postgres")
        || servers.into_iter().any(|version| version.path().join("bin/postgres").is_file());
    if is_postgres || env::var_os("FOLDLINE_TEST_ALL").is_some() {
        println!("cargo::rustc-cfg=has_postgres");
    }
    for tool in ["promtool", "prometheus"] {
        if is_there(tool) || env::var_os("FOLDLINE_TEST_ALL").is_some() {
            println!("cargo::rustc-cfg=has_{tool}");
        }
    }
    // Where all tests have to run, those that find no brokers fail.
    if brokers || env::var_os("FOLDLINE_TEST_ALL").is_some() {
        println!("cargo::rustc-cfg=has_brokers");
    }
}
