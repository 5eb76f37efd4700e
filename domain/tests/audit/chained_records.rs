//! Records of an audit trail are canonical, and linked.

use std::sync::Arc;

use foldline::position::Digest;
use foldline_domain::{audit::*, *};
use proptest::prelude::*;

fn check(line: &[u8]) -> serde_json::Value {
    let line = std::str::from_utf8(line).unwrap().strip_suffix('\n').unwrap();
    assert_eq!(canonical_json(line).unwrap(), line);
    let value: serde_json::Value = serde_json::from_str(line).unwrap();
    let record = canonical_json(&value["record"].to_string()).unwrap();
    assert_eq!(value["hash"], Digest::of(record.as_bytes()).to_string());
    value["record"].clone()
}

#[test]
fn a_record_says_what_was_done_and_where_it_stands() {
    let (mut chain, mut records) = (AuditChain::default(), EventRecords::default());
    chain.set_task(Some("t-1".into()));
    chain.set_log(Some("logs/a.jsonl"));
    let session = Session { session_id: Some("s-1".into()), ..Session::default() };
    let source = Position { line: 1, offset: 0 };
    let mut out = Vec::new();
    let stated = Located::new(source, DomainEvent::Session(Box::new(session)));
    chain.append(&records.record(&stated), &mut out);
    let first = chain.head();

    let command: Text = serde_json::from_str(r#""echo \u00e9""#).unwrap();
    let action = ActionType::CommandRun { command: command.clone(), result: None };
    let tool = NormalizedEntryType::ToolUse(ToolUse::new("Execute", action));
    let entry = NormalizedEntry::new(tool, command).at(Some(Timestamp::from_millis(1 << 53)));
    let call = DomainEvent::NewToolCall { corr_id: "c1".into(), entry: entry.into() };
    let line = Arc::new(Digest::of(b"the line"));
    let event = Located::new(Position { line: 2, offset: 90 }, call);
    let mut out = Vec::new();
    chain.append(&records.record(&event.with_line_sha256(Some(line))), &mut out);
    let expected = serde_json::json!({
        "action": "command_run", "at": "9007199254740992", "corr_id": "c1", "entry": "tool_use",
        "event": "new_tool_call", "line": 2, "line_sha256": Digest::of(b"the line"),
        "log": "logs/a.jsonl", "offset": 90, "prev": first.hash, "seq": 2, "session": "s-1",
        "status": "created", "summary": "echo é", "task": "t-1", "tool": "Execute", "v": 2,
    });
    assert_eq!(check(&out), expected);
}

#[test]
fn records_about_the_trail_are_canonical_and_linked() {
    let mut out = Vec::new();
    let mut chain = AuditChain::of_ledger("l", "t", 1 << 53, &mut out);
    let begun = serde_json::json!({
        "commits": "9007199254740992", "event": "trail", "ledger": "l",
        "prev": Digest::default(), "seq": 1, "trail": "t", "v": 2,
    });
    assert_eq!(check(&out), begun);
    let (first, mut out) = (chain.head(), Vec::new());
    chain.append_gap(7, 9, &mut out);
    let gap = serde_json::json!({
        "after": 7, "commits": 9, "event": "gap", "prev": first.hash, "seq": 2, "v": 2,
    });
    assert_eq!(check(&out), gap);
}

#[test]
fn a_line_that_is_too_long_is_one_damaged_record() {
    let (mut chain, mut lines) = (AuditChain::default(), [const { Vec::new() }; 3]);
    for (commits, line) in (1..).zip(&mut lines) {
        chain.append_gap(0, commits, line);
    }
    let [first, second, third] = &lines;
    for length in [MAX_LINE - 1, MAX_LINE, MAX_LINE + 1, 3 * MAX_LINE] {
        let long = [&vec![b'x'; length][..], b"\n"].concat();
        let found = |trail: &[&[u8]]| verify(&*trail.concat(), |_| ()).unwrap().unwrap_err();
        let found_at_once = found(&[first, &long, second]);
        assert_eq!(found_at_once.line, 2);
        assert!(matches!(found_at_once.problem, Problem::Damaged { expected: 2, .. }));
        let problem = Problem::Reordered { expected: 2, found: 3, at: 4 };
        assert_eq!(found(&[first, third, &long, second]), BrokenRecord { line: 2, problem });
    }
}

#[test]
fn contents_are_always_bound() {
    let warning = || DomainEvent::from(Warning::new(WarningKind::Malformed, "x"));
    let bare = Located::new(Position::default(), warning());
    let lined = bare.clone().with_line_sha256(Some(Arc::default()));
    let of = |mut records: EventRecords, event: &Located<DomainEvent>| {
        let (mut chain, mut out) = (AuditChain::default(), Vec::new());
        chain.append(&records.record(event), &mut out);
        let record = check(&out);
        (record.get("line_sha256").is_some(), record.get("event_sha256").is_some())
    };
    assert_eq!(of(EventRecords::default(), &bare), (false, true));
    assert_eq!(of(EventRecords::default(), &lined), (true, false));
    assert_eq!(of(EventRecords::default().with_event_digests(), &lined), (true, true));
}

proptest! {
    #[test]
    fn every_line_is_canonical_and_follows_the_one_before(
        texts in prop::collection::vec(any::<String>(), 1..5),
        line in any::<u64>(), offset in any::<u64>(), at in any::<i64>(),
    ) {
        let mut chain = AuditChain::default();
        for (index, text) in texts.iter().enumerate() {
            let before = chain.head();
            let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, text.as_str())
                .at(Some(Timestamp::from_millis(at)));
            let corr_id = text.as_str().into();
            let event = DomainEvent::OpenEntry { corr_id, entry: entry.into() };
            chain.set_log(Some(text));
            let event = Located::new(Position { line, offset }, event);
            let mut out = Vec::new();
            chain.append(&EventRecords::default().record(&event), &mut out);
            let record = check(&out);
            prop_assert_eq!(&record["prev"], &before.hash.to_string());
            prop_assert_eq!(&record["seq"], index + 1);
        }
    }
}
