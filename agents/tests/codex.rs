//! Codex's two formats, from the raw lines to the conversation.

mod exec_stream;
mod rollout_file;

use foldline_agents::{ExecutorReducer, codex::CodexExec};
use foldline_domain::{ActionType, CommandExitStatus, TokenUsage};
use foldline_testkit::{law, run};

use crate::replay::{
    Replay, all_logs, check_all_known, check_laws, is_regular, survives_any_value,
};

const FORMATS: [(&str, &str); 2] =
    [("codex-exec", "codex-exec"), ("codex-rollout", "codex-rollout")];

fn usage(input: u64, output: u64, cached: u64, reasoning: Option<u64>) -> TokenUsage {
    TokenUsage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        cache_read_tokens: Some(cached),
        reasoning_tokens: reasoning,
        ..TokenUsage::default()
    }
}

fn exit_code(replay: &Replay, corr_id: &str) -> Option<i32> {
    match &replay.tool(corr_id).action_type {
        ActionType::CommandRun { result: Some(result), .. } => match result.exit_status? {
            CommandExitStatus::ExitCode { code } => Some(code),
            CommandExitStatus::Success { .. } => None,
        },
        other => panic!("{corr_id} is not a command: {other:?}"),
    }
}

#[test]
fn every_log_obeys_the_laws() {
    for (format, folder) in FORMATS {
        for log in all_logs(folder) {
            check_laws(format, &log);
        }
    }
}

#[test]
fn nothing_in_regular_logs_is_strange() {
    for (format, folder) in FORMATS {
        for log in all_logs(folder).iter().filter(|log| is_regular(log)) {
            check_all_known(format, log);
        }
    }
}

#[test]
fn any_value_in_any_place_is_survived() {
    for (format, folder) in FORMATS {
        survives_any_value(format, folder);
    }
}

#[test]
fn a_message_may_begin_once_more_after_its_end() {
    let line = |phase: &str, text: &str| {
        format!(
            r#"{{"type":"item.{phase}","item":{{"id":"i","type":"agent_message","text":"{text}"}}}}"#
        )
    };
    let log = [line("started", "a"), line("completed", "ab"), line("started", "c")].join("\n");
    let events = run::sourced_events(&ExecutorReducer::new(CodexExec), [log.as_bytes()]);
    let events: Vec<_> = events.into_iter().map(|event| event.item).collect();
    law::balance(&events).unwrap();
    let opened = events.iter().filter(|event| event.name() == "open_entry").count();
    assert_eq!(opened, 2);
}
