//! The cost that session files state for a run of the program.

use std::collections::BTreeMap;

use foldline_domain::{DomainEvent, TokenUsage};
use serde_json::{Value, json};

use super::support::replay_lines;

/// 2026-10-02T08:00:00Z in milliseconds.
const EIGHT: i64 = 1_790_928_000_000;

/// A message with `input` tokens at a minute past eight.
fn message(id: &str, minute: u32, model: &str, input: u64, blocks: &Value) -> Value {
    json!({
        "type": "assistant", "uuid": format!("u-{id}"), "sessionId": "s", "version": "2.1.287",
        "timestamp": format!("2026-10-02T08:{minute:02}:00.000Z"),
        "message": {"id": id, "role": "assistant", "model": model, "content": blocks,
                    "usage": {"input_tokens": input, "output_tokens": 10}},
    })
}

fn said(id: &str, minute: u32, input: u64) -> Value {
    message(id, minute, "claude-opus-5-5", input, &json!([{"type": "text", "text": "Sown."}]))
}

/// A record of the run that began `start` minutes past eight.
fn cost(start: i64, models: &[(&str, u64, f64)]) -> Value {
    let of = |(model, input, usd): &(&str, u64, f64)| {
        (model.to_string(), json!({"inputTokens": input, "outputTokens": 20, "costUSD": usd}))
    };
    let total: f64 = models.iter().map(|(.., usd)| usd).sum();
    json!({
        "type": "cost-state", "sessionId": "s", "startTime": EIGHT + start * 60_000,
        "totalCostUSD": total, "hasUnknownModelCost": false,
        "modelUsage": models.iter().map(of).collect::<serde_json::Map<_, _>>(),
    })
}

/// The usage of each identity, as a database sums it: message, model and time.
fn usage(log: &[Value]) -> BTreeMap<String, TokenUsage> {
    let lines: Vec<_> = log.iter().map(Value::to_string).collect();
    let mut all: BTreeMap<_, TokenUsage> = BTreeMap::new();
    for event in replay_lines("claude-session", &lines) {
        if let DomainEvent::Usage { usage, model, message_id, timestamp } = event {
            let of = [message_id, model].map(Option::unwrap_or_default).map(|it| it.to_string());
            let minute = timestamp.map(|at| (at.as_millis() - EIGHT) / 60_000);
            let of = format!("{} {} {minute:?}", of[0], of[1]);
            all.entry(of).or_default().add(&usage);
        }
    }
    all
}

fn cents(usage: &BTreeMap<String, TokenUsage>) -> f64 {
    let sum: f64 = usage.values().filter_map(|usage| usage.cost_usd).sum();
    (sum * 1e4).round() / 1e2
}

#[test]
fn a_window_costs_what_its_last_record_states() {
    let used = usage(&[
        said("m1", 1, 100),
        cost(0, &[("claude-opus-5-5[1m]", 100, 0.01), ("claude-haiku-4-5", 50, 0.02)]),
        cost(0, &[("claude-opus-5-5[1m]", 100, 0.01), ("claude-haiku-4-5", 50, 0.02)]),
        said("m2", 2, 200),
        cost(0, &[("claude-opus-5-5[1m]", 300, 0.03), ("claude-haiku-4-5", 70, 0.02)]),
    ]);
    assert_eq!(cents(&used), 5.0);
    let input = |of: &str| used.get(of).and_then(|usage| usage.input_tokens);
    assert_eq!(input("m1 claude-opus-5-5 Some(1)"), Some(100));
    assert_eq!(used["m1 claude-opus-5-5 Some(1)"].cost_usd, Some(0.0), "part of the window");
    let helper: u64 = used
        .iter()
        .filter(|(of, _)| of.starts_with(&format!("window:{EIGHT} claude-haiku-4-5 ")))
        .filter_map(|(_, usage)| usage.input_tokens)
        .sum();
    assert_eq!(helper, 70);
    let tokens: u64 = used.values().filter_map(|usage| usage.input_tokens).sum();
    assert_eq!(tokens, 100 + 200 + 70, "the tokens of each message, once");
}

#[test]
fn each_run_has_a_window_and_messages_outside_of_them_are_estimated() {
    let used = usage(&[
        said("before", 1, 100),
        said("m1", 11, 100),
        cost(10, &[("claude-opus-5-5", 100, 0.01)]),
        said("between", 12, 100),
        said("m2", 21, 100),
        cost(20, &[("claude-opus-5-5", 100, 0.02)]),
        said("after", 30, 100),
    ]);
    assert_eq!(cents(&used), 3.0);
    let estimated: Vec<_> =
        used.iter().filter(|(_, usage)| usage.cost_usd.is_none()).map(|(of, _)| &**of).collect();
    let expected = ["after claude-opus-5-5 Some(30)", "before claude-opus-5-5 Some(1)"];
    assert_eq!(estimated, [expected[0], expected[1], "between claude-opus-5-5 Some(12)"]);
}

#[test]
fn a_window_with_sub_agents_adds_its_cost_but_not_their_tokens() {
    let call = json!([{"type": "tool_use", "id": "t1", "name": "Agent", "input": {}}]);
    let calling = message("m1", 1, "claude-opus-5-5", 100, &call);
    let used = usage(&[calling.clone(), cost(0, &[("claude-opus-5-5", 900, 0.09)])]);
    assert_eq!((cents(&used), used.len()), (9.0, 2));
    assert_eq!(used["m1 claude-opus-5-5 Some(1)"].cost_usd, Some(0.0));
    let window = &used[&format!("window:{EIGHT} claude-opus-5-5 Some(1)")];
    assert_eq!((window.input_tokens, window.cost_usd), (None, Some(0.09)));
    // Which sub-agents have the model whose cost is unknown?
    let mut floor = cost(0, &[("claude-opus-5-5", 900, 0.09), ("other", 5, 0.0)]);
    floor["hasUnknownModelCost"] = true.into();
    let used = usage(&[calling, floor]);
    assert_eq!((used.len(), used["m1 claude-opus-5-5 Some(1)"].cost_usd), (1, None));
}

#[test]
fn an_unknown_cost_is_left_to_estimates() {
    let mut floor = cost(0, &[("claude-opus-5-5", 100, 0.0), ("claude-haiku-4-5", 5, 0.01)]);
    floor["hasUnknownModelCost"] = true.into();
    let used = usage(&[said("m1", 1, 100), floor]);
    assert_eq!((cents(&used), used.len()), (1.0, 2));
    assert_eq!(used["m1 claude-opus-5-5 Some(1)"].cost_usd, None);
}

#[test]
fn a_total_without_models_is_that_of_all() {
    let mut total = cost(0, &[]);
    total["totalCostUSD"] = 0.25.into();
    let used = usage(&[said("m1", 1, 100), total.clone(), total]);
    assert_eq!((cents(&used), used.len()), (25.0, 2));
    let whole = &used[&format!("window:{EIGHT}  Some(1)")];
    assert_eq!((whole.cost_usd, whole.output_tokens), (Some(0.25), Some(0)));
}
