//! The reducer as a plain function: state and record in, state and events out.

use foldline::transduce::{Batch, Reducer};
use foldline_agents::{
    ExecutorReducer, State,
    droid::Droid,
    wire::{Object, Record},
};
use foldline_domain::{DomainEvent, ToolStatus};

fn reduce(state: Box<State<Droid>>, line: &str) -> (Box<State<Droid>>, Batch<DomainEvent>) {
    ExecutorReducer::new(Droid).reduce(state, Record::Object(Object::parse(line).unwrap()))
}

#[test]
fn a_tool_call_and_its_error() {
    let state = Box::<State<Droid>>::default();
    let init =
        r#"{"type":"system","subtype":"init","cwd":"/p","session_id":"s","tools":[],"model":"m"}"#;
    let (state, _) = reduce(state, init);
    assert_eq!(state.calls().open_calls(), 0);

    let call = r#"{"type":"tool_call","id":"call_1","messageId":"m1","toolName":"Read","parameters":{"file_path":"/p/a"},"timestamp":1000,"session_id":"s"}"#;
    let (state, events) = reduce(state, call);
    let [DomainEvent::NewToolCall { corr_id, entry }] = events.as_slice() else {
        panic!("one call, and nothing else: {events:?}");
    };
    assert_eq!(corr_id.as_str(), "call_1");
    assert_eq!(entry.tool().unwrap().status, ToolStatus::Created);
    assert_eq!(state.calls().open_calls(), 1);

    let result = r#"{"type":"tool_result","id":"call_1","messageId":"m2","isError":true,"error":{"type":"tool_error","message":"no such file"},"timestamp":1020,"session_id":"s"}"#;
    let (state, events) = reduce(state, result);
    let [DomainEvent::UpdateToolCall { corr_id, entry }] = events.as_slice() else {
        panic!("one update, and nothing else: {events:?}");
    };
    assert_eq!(corr_id.as_str(), "call_1");
    let tool = entry.tool().unwrap();
    assert_eq!((&tool.status, tool.duration_ms), (&ToolStatus::Failed, Some(20)));
    assert_eq!(tool.action_type.result_text(), Some("no such file".into()));
    assert_eq!((state.calls().open_calls(), state.calls().held_results()), (0, 0));

    // Nothing is open, so the end emits nothing.
    let (_, events) = ExecutorReducer::new(Droid).finish(state);
    assert!(events.is_empty());
}
