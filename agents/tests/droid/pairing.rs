//! The pairing of results with calls.

use foldline_domain::WarningKind;

use super::{calls, conversation, durations, entries, results, session, warnings};

#[test]
fn an_empty_tool_id_is_none() {
    let conversation = conversation("empty_tool_id");
    assert_eq!(
        results(&conversation),
        ["call_1=success:alpha\n", "call_2=failed:Error: ripgrep is missing"]
    );
    assert_eq!(calls(&conversation)[1].1.tool_name, "Grep");
    assert_eq!(calls(&conversation)[0].0.content, "a.txt", "relative to the directory");
    assert_eq!(durations(&conversation), [Some(40), Some(10)]);
    assert_eq!(warnings(&conversation), []);
}

#[test]
fn results_without_ids_go_to_the_calls_in_order() {
    let conversation = conversation("ids_missing");
    assert_eq!(
        results(&conversation),
        [
            "call_1=success:content of a",
            "call_2=success:content of b",
            "call-2=success:a.txt b.txt"
        ]
    );
    for (call, _) in calls(&conversation) {
        assert!(call.metadata.as_ref().unwrap().inferred, "{call:?}");
    }
    assert_eq!(entries(&conversation).last().unwrap(), "diagnostic: one too many");
    assert_eq!(
        warnings(&conversation),
        [(WarningKind::UnclaimedResult, 1), (WarningKind::InferredResult, 3)]
    );
}

#[test]
fn results_without_ids_that_name_a_tool_go_to_its_call() {
    let conversation = conversation("results_without_ids_by_tool");
    assert_eq!(
        results(&conversation),
        ["call_1=success:made", "call_2=success:File created successfully"]
    );
    assert_eq!(warnings(&conversation), [(WarningKind::InferredResult, 2)]);
}

#[test]
fn the_order_of_keys_does_not_matter() {
    let conversation = conversation("id_last");
    assert_eq!(results(&conversation), ["toolu_1=success:File created successfully"]);
    assert_eq!(warnings(&conversation), []);
}

#[test]
fn parallel_calls_get_their_own_results_in_any_order() {
    let conversation = conversation("parallel_calls");
    assert_eq!(
        results(&conversation),
        ["toolu_1=success:1", "toolu_2=success:2", "toolu_3=success:3"]
    );
    assert_eq!(durations(&conversation), [Some(5), Some(9), Some(3)]);
    assert_eq!(warnings(&conversation), []);
}

#[test]
fn a_result_may_come_before_its_call() {
    let conversation = conversation("early_result");
    assert_eq!(results(&conversation), ["call_1=success:early"]);
    assert_eq!(warnings(&conversation), []);
}

#[test]
fn a_result_that_nobody_asked_for_is_kept() {
    let conversation = conversation("unknown_result_id");
    assert_eq!(results(&conversation), ["call_1=success:1"]);
    assert_eq!(entries(&conversation).last().unwrap(), "diagnostic: nobody asked");
    assert_eq!(warnings(&conversation), [(WarningKind::UnclaimedResult, 1)]);
}

#[test]
fn a_torn_result_leaves_its_call_unfinished_and_the_others_alone() {
    let conversation = conversation("truncated_result");
    assert_eq!(results(&conversation), ["call_1=unfinished:", "call_2=success:2"]);
    assert!(entries(&conversation)[1].ends_with("the first half of"), "the torn line is kept");
    assert_eq!(
        warnings(&conversation),
        [(WarningKind::Malformed, 1), (WarningKind::UnfinishedCall, 1)]
    );
}

#[test]
fn of_two_with_one_id_the_first_counts() {
    let conversation = conversation("same_id_twice");
    assert_eq!(results(&conversation), ["call_1=success:first"]);
    assert_eq!(calls(&conversation)[0].1.tool_name, "Read");
    let entries = entries(&conversation);
    assert!(entries[1].contains(r#""command":"other""#), "the second call is kept: {entries:?}");
    assert_eq!(entries[2], "diagnostic: second");
    assert_eq!(
        warnings(&conversation),
        [(WarningKind::DuplicateCall, 1), (WarningKind::DuplicateResult, 1)]
    );
}

#[test]
fn a_stream_may_be_cut_at_both_ends() {
    let conversation = conversation("cut_stream");
    assert_eq!(session(&conversation).session_id.as_ref().unwrap().as_str(), "s-1");
    assert_eq!(session(&conversation).outcome, None);
    assert_eq!(results(&conversation), ["call_1=unfinished:"]);
    assert_eq!(
        warnings(&conversation),
        [
            (WarningKind::Malformed, 1),
            (WarningKind::UnclaimedResult, 1),
            (WarningKind::UnfinishedCall, 1)
        ]
    );
    let entries = entries(&conversation);
    assert_eq!(entries.last().unwrap(), "diagnostic: of a call before the cut");
}
