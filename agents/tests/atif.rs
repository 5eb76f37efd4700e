//! Trajectories of other programs. What `foldline export` wrote is tested by `foldline-trajectory`.

use std::{fs, path::Path};

use foldline_domain::{Conversation, NormalizedEntryType, TokenUsage};

use crate::opened;

fn fixture(name: &str) -> Conversation {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/atif");
    opened::conversation("atif", &fs::read_to_string(folder.join(name)).unwrap())
}

/// The type and the text of each entry.
fn said(conversation: &Conversation) -> Vec<(&'static str, String)> {
    let entries = conversation.entries.iter();
    entries.map(|entry| (entry.entry_type.name(), entry.content.decode().into_owned())).collect()
}

#[test]
fn a_step_is_its_reasoning_its_message_and_its_calls() {
    let conversation = fixture("session.jsonl");
    let picture =
        "Feed them.\n[image: images/pen.png]\n[image: image/gif, 23 bytes]\n[audio/wav: honk.wav]";
    let expected = [
        ("model_change", "model: large-1"),
        ("system_message", "A run of an invented benchmark."),
        ("system_message", "You feed geese."),
        ("user_message", picture),
        ("model_change", "model: large-2"),
        ("thinking", "Where are they?"),
        ("assistant_message", "I look."),
        ("tool_use", "ls pen\n"),
        ("tool_use", "look"),
        ("tool_use", "delegate"),
        // The sub-agent, behind the call that refers to it.
        ("user_message", "Count the geese."),
        ("assistant_message", "Three."),
        ("assistant_message", "Waiting."),
        ("system_message", "New terminal output"),
        ("assistant_message", "Again."),
        ("tool_use", "top\n"),
        ("tool_use", "delegate"),
        ("assistant_message", "Done."),
    ];
    assert_eq!(said(&conversation), expected.map(|(kind, text)| (kind, text.to_owned())));
    let calls = conversation.entries.iter().filter_map(|entry| Some((entry, entry.tool()?)));
    let calls: Vec<_> = calls.map(|(entry, tool)| (entry, tool.status.name())).collect();
    let statuses: Vec<_> = calls.iter().map(|(_, status)| *status).collect();
    assert_eq!(statuses, ["unknown", "unknown", "unknown", "unfinished", "unfinished"]);
    let metadata = |at: usize| calls[at].0.metadata.clone().unwrap();
    assert_eq!(metadata(1).images[0].bytes(), Some(23));
    assert_eq!(metadata(2).child_session_id.unwrap().as_str(), "run-1-sub");
    let of_agent = conversation.entries[10].metadata.clone().unwrap().parent_corr_id;
    assert_eq!(of_agent.unwrap().as_str(), "c3");
    // An estimate is not read.
    let usage = TokenUsage {
        input_tokens: Some(130),
        output_tokens: Some(21),
        cache_read_tokens: Some(100),
        cache_write_tokens: Some(5),
        reasoning_tokens: Some(3),
        cost_usd: Some(0.25),
        ..TokenUsage::default()
    };
    assert_eq!(conversation.summary.usage, Some(usage));
}

#[test]
fn totals_count_if_no_step_states_tokens() {
    let conversation = fixture("oddities.jsonl");
    let usage = conversation.summary.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(10), Some(2)));
    let is_command = |entry: &NormalizedEntryType| matches!(entry, NormalizedEntryType::ToolUse(tool) if tool.action_type.name() == "command_run");
    assert!(conversation.entries.iter().any(|entry| is_command(&entry.entry_type)));
    assert!(said(&conversation).contains(&("system_message", "b".to_owned())));
}
