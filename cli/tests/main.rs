//! The tests of the program: one test program, one module a subject. Pages in a browser are tested in `browser`.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "that is how a test fails")]

mod archive;
mod audit;
mod authority;
#[allow(dead_code, reason = "shared with the tests of the library")]
#[path = "../../agents/tests/captures.rs"]
mod captures;
mod cli;
mod complete_calls;
mod counted_once;
mod cursor_chats;
mod damage;
mod disk_full;
mod distinct;
mod doctor;
mod export;
mod export_all;
mod extreme_numbers;
mod faults;
mod first_hour;
mod follow;
mod forget;
mod found;
mod habits;
mod hostile;
#[path = "../../render/tests/html/hostile.rs"]
mod hostile_page;
mod independent;
mod ingest;
mod ingest_files;
mod interleaved;
mod lines;
mod logging;
mod logs;
#[cfg(feature = "mcp")]
mod mcp;
mod memory;
mod nul_characters;
mod one_story;
mod opencode_database;
#[cfg(feature = "otlp")]
mod otlp;
mod outputs;
mod outputs_walk;
mod packaging;
mod pick;
mod plans;
#[cfg(all(unix, feature = "postgres"))]
mod postgres;
mod power;
mod private;
mod program;
mod push;
mod query;
mod questions;
mod readme;
mod resume;
mod resumed;
mod rewritten;
mod run;
mod run_rows;
mod serve;
mod several_files;
mod signed;
mod sqlite;
mod story_of_captures;
mod titles;
mod totals;
mod two_threads;
mod unusable;
mod usage;
mod verify_source;
mod walk;
mod walk_model;
mod widths;
