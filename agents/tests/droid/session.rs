//! Messages, and the end of a run.

use foldline_domain::{Outcome, WarningKind};

use super::{conversation, entries, extra, session, warnings};

#[test]
fn the_final_text_stands_once_whichever_comes_first() {
    let after = conversation("final_text_repeated");
    assert_eq!(entries(&after), ["user_message: go", "assistant_message: All done.\n"]);
    let before = conversation("completion_before_message");
    assert_eq!(entries(&before), ["user_message: go", "assistant_message: All done."]);
    for (conversation, turns, duration) in [(&after, 2, 4074), (&before, 1, 900)] {
        let session = session(conversation);
        assert_eq!(session.outcome, Some(Outcome::Success));
        assert_eq!((session.turns, session.duration_ms), (Some(turns), Some(duration)));
        assert_eq!(warnings(conversation), []);
    }
}

#[test]
fn a_completion_is_not_the_end() {
    let conversation = conversation("text_after_completion");
    assert_eq!(
        entries(&conversation),
        ["user_message: go", "assistant_message: All done.", "assistant_message: One more thing."]
    );
}

#[test]
fn a_thought_that_is_printed_twice_stands_once() {
    let conversation = conversation("reasoning_doubled");
    assert_eq!(
        entries(&conversation),
        ["thinking: Let me think.", "thinking: Let me think.", "assistant_message: Thought."],
        "once for each of two messages"
    );
}

#[test]
fn of_the_two_errors_of_one_failure_the_first_is_the_reason() {
    let conversation = conversation("error_pair");
    let session = session(&conversation);
    assert_eq!(session.outcome, Some(Outcome::Failed));
    assert_eq!(session.outcome_reason, Some("Connection error.".into()));
    assert_eq!(
        entries(&conversation)[1..],
        ["error_message: Connection error.", "error_message: Exec failed"]
    );
    assert_eq!(extra(&conversation.entries[2], "source"), Some(r#""agent_loop""#));
}

#[test]
fn the_one_object_of_json_output_is_a_conversation_too() {
    let success = conversation("json_mode");
    assert_eq!(entries(&success), ["assistant_message: ready"]);
    assert_eq!(session(&success).outcome, Some(Outcome::Success));
    assert_eq!(success.summary.usage.unwrap().input_tokens, Some(100));
    let failure = conversation("json_mode_failure");
    assert_eq!(entries(&failure), ["error_message: Exec failed"]);
    assert_eq!(session(&failure).outcome, Some(Outcome::Failed));
    assert_eq!((warnings(&success), warnings(&failure)), (vec![], vec![]));
}

#[test]
fn cached_tokens_are_input_tokens() {
    let conversation = conversation("usage");
    let usage = conversation.summary.usage.unwrap();
    assert_eq!(usage.input_tokens, Some(1107));
    assert_eq!((usage.cache_read_tokens, usage.cache_write_tokens), (Some(1000), Some(7)));
    assert_eq!((usage.output_tokens, usage.reasoning_tokens), (Some(20), Some(5)));
    assert_eq!(warnings(&conversation), [(WarningKind::UnknownField, 1)], "factory_credits");
}

#[test]
fn an_init_may_lack_its_tools() {
    let conversation = conversation("init_without_tools");
    let session = session(&conversation);
    assert_eq!(session.model, Some("claude-opus-4-8".into()));
    assert_eq!(session.reasoning_effort, Some("high".into()));
    assert_eq!(session.tools, Some(vec![]), "of the second init, whose list is empty");
    assert_eq!(conversation.entries.len(), 1, "the model is stated once");
}
