//! Elements that the logs of several agents share.

use foldline_agents::{
    MappedCall,
    dialect::{
        anthropic::{error_message, take_usage},
        gemini,
        jsonrpc::Rpc,
        usage::RunUsage,
    },
    wire::Object,
};
use foldline_domain::{
    Text, TokenUsage,
    ToolKind::{Edit, Execute, Fetch, Other, Read, Search, Think},
};
use foldline_json::Raw;

fn used(input: u64, output: u64) -> TokenUsage {
    let (input_tokens, output_tokens) = (Some(input), Some(output));
    TokenUsage { input_tokens, output_tokens, ..TokenUsage::default() }
}

#[test]
fn totals_go_on_from_run_to_run() {
    let mut run = RunUsage::default();
    let mut end = |messages: TokenUsage, total: TokenUsage| {
        assert_eq!(run.note(Some(&"m".into()), messages), Some(messages), "counted at once");
        run.settle(vec![(None, total)])
    };
    // A sub-agent used 20 and 2.
    assert_eq!(end(used(100, 10), used(120, 12)), [(None, used(20, 2))]);
    assert_eq!(end(used(50, 5), used(170, 17)), []);
    // The program was restarted.
    assert_eq!(end(used(30, 3), used(30, 3)), []);
}

/// Some releases state new counters for each run, and others those of all runs.
#[test]
fn the_messages_tell_whether_totals_are_of_one_run_or_of_all() {
    for (second, is_of_all) in [(used(200, 20), false), (used(300, 30), true)] {
        let mut run = RunUsage::default();
        let mut sum = TokenUsage::default();
        for (output, total) in [(10, used(100, 10)), (20, second)] {
            // Messages that name no model.
            sum.add(&run.note(None, TokenUsage { input_tokens: None, ..used(0, output) }).unwrap());
            let rest = run.settle(vec![(Some("m".into()), total)]);
            rest.iter().for_each(|(_, usage)| sum.add(usage));
        }
        assert_eq!(sum, used(300, 30), "of all runs: {is_of_all}");
    }
}

#[test]
fn an_end_without_totals_leaves_what_the_messages_state() {
    let mut run = RunUsage::default();
    run.note(Some(&"m".into()), used(5, 1));
    run.note(None, used(7, 1));
    assert_eq!(run.settle(Vec::new()), []);
    assert_eq!(run.settle(vec![(Some("m".into()), used(9, 2))])[0].1, used(4, 1));
}

#[test]
fn what_calls_state_is_not_counted_again() {
    let model = Text::from("m");
    let mut run = RunUsage::default();
    assert_eq!(run.note(Some(&model), used(0, 4)), Some(used(0, 4)));
    assert_eq!(run.count(Some(&model), used(100, 4)), used(100, 0));
    assert_eq!(run.note(Some(&model), used(0, 6)), None);
    assert_eq!(run.count(Some(&model), used(150, 6)), used(150, 6));
    // A call without a message.
    let end = run.settle(vec![(Some(model.clone()), used(300, 11))]);
    assert_eq!(end, [(Some(model), used(50, 1))]);
}

fn mapped(name: &str, parameters: &str) -> MappedCall {
    gemini::map(name, Some(Raw::parse(parameters).unwrap()), Some("/w"))
}

#[test]
fn every_tool_has_its_kind_and_title() {
    for (name, parameters, kind, title) in [
        ("read_file", r#"{"absolute_path":"/w/a.rs"}"#, Read, "a.rs"),
        ("list_directory", r#"{"dir_path":"src"}"#, Read, "src"),
        ("read_many_files", r#"{"include":["a","b"]}"#, Read, "a, b"),
        ("write_file", r#"{"file_path":"a","content":"x"}"#, Edit, "a"),
        ("replace", r#"{"file_path":"a","old_string":"x","new_string":"y"}"#, Edit, "a"),
        ("run_shell_command", r#"{"command":"ls"}"#, Execute, "ls"),
        ("glob", r#"{"pattern":"*.rs"}"#, Search, "*.rs"),
        ("search_file_content", r#"{"pattern":"fn"}"#, Search, "fn"),
        ("google_web_search", r#"{"query":"shops"}"#, Search, "shops"),
        ("web_fetch", r#"{"prompt":"Read https://a.b/c, please"}"#, Fetch, "https://a.b/c"),
        ("web_fetch", r#"{"prompt":"Read it"}"#, Fetch, ""),
        ("write_todos", r#"{"todos":[]}"#, Think, "todo list"),
        ("ask_user", r#"{"questions":[{"question":"Which?"}]}"#, Other, "Which?"),
        ("exit_plan_mode", r#"{"plan_filename":"p.md"}"#, Think, "plan"),
        ("codebase_investigator", r#"{"objective":"Find it"}"#, Other, "Find it"),
        ("invoke_agent", r#"{"agent_name":"x","prompt":"Do"}"#, Other, "Do"),
        ("notebook_edit", r#"{"notebook_path":"/w/n.ipynb"}"#, Edit, "n.ipynb"),
        ("task_create", r#"{"subject":"Mend it"}"#, Think, "todo list"),
        ("agent", r#"{"description":"Look","prompt":"p"}"#, Other, "Look"),
        ("save_memory", r#"{"fact":"f"}"#, Other, "save_memory"),
        ("mcp_desk_open", "{}", Other, "mcp_desk_open"),
        ("desk__open", "{}", Other, "desk__open"),
    ] {
        let call = mapped(name, parameters);
        assert_eq!((call.action.kind(), &call.title), (kind, &title.into()), "{name}");
        assert!(!call.unknown, "{name}");
    }
    assert!(mapped("frobnicate", "{}").unknown);
}

#[test]
fn anything_may_stand_where_the_parameters_should() {
    for name in ["read_file", "replace", "write_todos", "ask_user", "web_fetch", "task_create"] {
        let odd = r#"{"todos":7,"questions":"x","prompt":[],"old_string":1}"#;
        assert!(!mapped(name, odd).unknown);
        assert!(!gemini::map(name, None, None).unknown);
        for given in ["7", "[]", r#""x""#] {
            let call = mapped(name, given);
            assert!(!call.unknown);
            assert_eq!(call, MappedCall::tool(name, Some(Raw::parse(given).unwrap())));
        }
    }
}

#[test]
fn errors_are_unwrapped() {
    let message = |json: &str| {
        let raw = Raw::parse(json).unwrap();
        error_message(raw).decode().into_owned()
    };
    assert_eq!(message(r#""no""#), "no");
    assert_eq!(
        message(r#"{"type":"error","error":{"type":"overloaded","message":"Busy"}}"#),
        "Busy"
    );
    assert_eq!(message(r#"{"status":500,"error":{"error":{"message":"Deep"}}}"#), "Deep");
    assert_eq!(message(r#"{"code":1}"#), r#"{"code":1}"#);
}

#[test]
fn a_record_is_a_call_a_result_or_an_error() {
    for (record, name, left) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"run","params":{"x":1}}"#, "run", 1),
        (r#"{"jsonrpc":"2.0","method":"run","params":[1]}"#, "run", 0),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"x":1}}"#, "response", 0),
        (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "response", 0),
        (r#"{"jsonrpc":"2.0","id":1,"result":"words","trace":7}"#, "response", 2),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1},"result":null}"#, "error", 0),
    ] {
        let mut object = Object::parse(record).unwrap();
        let rpc = Rpc::read(&object).unwrap();
        assert_eq!(rpc.name(), name);
        let params = if let Rpc::Call(_, params) = rpc { params } else { Object::default() };
        Rpc::take(&mut object, params);
        assert_eq!(object.rest().len(), left, "{record}");
    }
    assert!(Rpc::read(&Object::parse(r#"{"jsonrpc":"2.0","id":1}"#).unwrap()).is_none());
}

#[test]
fn cached_input_is_input() {
    let usage = r#"{"usage":{"input_tokens":2,"cache_read_input_tokens":30,"cache_creation_input_tokens":400,"cache_creation":{"ephemeral_1h_input_tokens":300,"ephemeral_5m_input_tokens":100},"output_tokens":5,"output_tokens_details":{"thinking_tokens":4},"server_tool_use":{"web_search_requests":2,"web_fetch_requests":1},"speed":"x","novel":1}}"#;
    let mut message = Object::parse(usage).unwrap();
    let read = take_usage(&mut message).unwrap();
    let unknown = message.rest();
    assert_eq!(read.input_tokens, Some(432));
    assert_eq!(read.cache_read_tokens, Some(30));
    assert_eq!((read.cache_write_tokens, read.cache_write_1h_tokens), (Some(400), Some(300)));
    assert_eq!((read.output_tokens, read.reasoning_tokens), (Some(5), Some(4)));
    assert_eq!(read.web_searches, Some(2));
    assert_eq!(unknown.len(), 1);
    assert_eq!(unknown[0].0, "usage.novel");
}
