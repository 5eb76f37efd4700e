//! Golden conversations of every fixture of Claude Code, of Codex, and of the files that other agents keep.
//!
//! Changes are reviewed as snapshots; the tests of the agent assert the important properties of a fixture.

use std::{fs, path::Path};

use foldline_agents::{
    Executor, ExecutorReducer,
    amp::AmpThread,
    antigravity::Antigravity,
    atif::Atif,
    claude::{ClaudeSession, ClaudeStream},
    cline::Cline,
    codex::{CodexExec, CodexRollout},
    copilot_chat::CopilotChat,
    cursor::{CursorChat, CursorTranscript},
    gemini::GeminiSession,
    goose::Goose,
    grok::Grok,
    hermes::Hermes,
    kimi::Kimi,
    opencode::OpencodeSession,
    pi::Pi,
    zed::Zed,
};
use foldline_domain::Conversation;
use foldline_testkit::run;

fn every_fixture_is_as_it_was<E: Executor>(executor: E) {
    let format = E::FORMAT.name;
    let reducer = ExecutorReducer::new(executor);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(format);
    let mut logs: Vec<_> = fs::read_dir(folder).unwrap().map(|log| log.unwrap().path()).collect();
    logs.sort();
    for log in logs {
        let events = run::sourced_events(&reducer, [&*fs::read(&log).unwrap()]);
        let conversation: Conversation = events.iter().map(|event| &event.item).collect();
        // Through a value, so that the snapshot has canonical escapes.
        let document = serde_json::to_value(&conversation).unwrap();
        let name = format!("{format}__{}", log.file_stem().unwrap().to_str().unwrap());
        insta::assert_snapshot!(name, serde_json::to_string_pretty(&document).unwrap());
    }
}

#[test]
fn antigravity() {
    every_fixture_is_as_it_was(Antigravity::default());
}

#[test]
fn atif() {
    every_fixture_is_as_it_was(Atif);
}

#[test]
fn claude_stream() {
    every_fixture_is_as_it_was(ClaudeStream);
}

#[test]
fn claude_session() {
    every_fixture_is_as_it_was(ClaudeSession::default());
}

#[test]
fn cline() {
    every_fixture_is_as_it_was(Cline);
}

#[test]
fn codex_exec() {
    every_fixture_is_as_it_was(CodexExec);
}

#[test]
fn codex_rollout() {
    every_fixture_is_as_it_was(CodexRollout);
}

#[test]
fn amp_thread() {
    every_fixture_is_as_it_was(AmpThread);
}

#[test]
fn copilot_chat() {
    every_fixture_is_as_it_was(CopilotChat::default());
}

#[test]
fn cursor_chat() {
    every_fixture_is_as_it_was(CursorChat::default());
}

#[test]
fn cursor_transcript() {
    every_fixture_is_as_it_was(CursorTranscript::default());
}

#[test]
fn gemini_session() {
    every_fixture_is_as_it_was(GeminiSession::default());
}

#[test]
fn goose() {
    every_fixture_is_as_it_was(Goose::default());
}

#[test]
fn grok() {
    every_fixture_is_as_it_was(Grok);
}

#[test]
fn hermes() {
    every_fixture_is_as_it_was(Hermes::default());
}

#[test]
fn kimi() {
    every_fixture_is_as_it_was(Kimi::default());
}

#[test]
fn opencode_session() {
    every_fixture_is_as_it_was(OpencodeSession::default());
}

#[test]
fn pi() {
    every_fixture_is_as_it_was(Pi);
}

#[test]
fn zed() {
    every_fixture_is_as_it_was(Zed::default());
}
