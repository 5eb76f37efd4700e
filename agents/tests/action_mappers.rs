//! The actions of tool calls, for agents with their own mappers.

use foldline::transduce::Reducer;
use foldline_agents::{
    DynExecutor, claude::ClaudeStream, copilot::Copilot, files::replacement, opencode::Opencode,
    wire::Record,
};
use foldline_domain::{
    ActionType, DomainEvent, FileChange, Json, NormalizedEntry,
    ToolKind::{self, Delete, Edit, Execute, Fetch, Other, Read, Search, Think},
    WarningKind,
};

/// A record of an agent with a call of this tool and input.
type Call = fn(&str, &str) -> String;

fn claude(name: &str, input: &str) -> String {
    let call = format!(r#"{{"type":"tool_use","id":"c","name":"{name}","input":{input}}}"#);
    let message = format!(r#"{{"id":"msg_1","role":"assistant","content":[{call}]}}"#);
    format!(r#"{{"type":"assistant","session_id":"s","message":{message}}}"#)
}

fn copilot(name: &str, input: &str) -> String {
    let data = format!(r#"{{"toolCallId":"c","toolName":"{name}","arguments":{input}}}"#);
    format!(
        r#"{{"type":"tool.execution_start","id":"1","parentId":null,"timestamp":"2026-01-01T00:00:00Z","data":{data}}}"#
    )
}

fn opencode(name: &str, input: &str) -> String {
    let state = format!(r#"{{"status":"completed","input":{input},"output":"x"}}"#);
    let part = format!(r#"{{"callID":"c","tool":"{name}","state":{state}}}"#);
    format!(r#"{{"type":"tool_use","sessionID":"s","part":{part}}}"#)
}

/// The agents, with a record that states the working directory, if they have one.
const AGENTS: [(&str, Call, &str); 3] = [
    (
        "claude",
        claude,
        r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/w","tools":[]}"#,
    ),
    (
        "copilot",
        copilot,
        r#"{"type":"session.start","id":"0","parentId":null,"timestamp":"2026-01-01T00:00:00Z","data":{"cwd":"/w"}}"#,
    ),
    ("opencode", opencode, "{}"),
];

fn executor(agent: &str) -> DynExecutor {
    match agent {
        "claude" => ClaudeStream.into(),
        "copilot" => Copilot.into(),
        _ => Opencode.into(),
    }
}

/// The call, and whether its tool is unknown.
fn mapped(agent: &str, name: &str, input: &str) -> (NormalizedEntry, bool) {
    let (_, call, start) = AGENTS.iter().find(|(of, ..)| *of == agent).unwrap();
    let (executor, mut events) = (executor(agent), Vec::new());
    let mut state = executor.init();
    for line in [*start, &call(name, input)] {
        Record::read(line, |_, record| {
            let (next, news) = executor.reduce(state.clone(), record);
            state = next;
            events.extend(news);
        });
    }
    let is_unknown = |event: &DomainEvent| matches!(event, DomainEvent::Warning(warning) if warning.kind == WarningKind::UnknownTool);
    let call = events.iter().find_map(|event| match event {
        DomainEvent::NewToolCall { entry, .. } => Some(NormalizedEntry::clone(entry)),
        _ => None,
    });
    (call.unwrap(), events.iter().any(is_unknown))
}

fn have_their_kinds_and_titles(agent: &str, cases: &[(&str, &str, ToolKind, &str)]) {
    for (name, input, kind, title) in cases {
        let (call, is_unknown) = mapped(agent, name, input);
        let action = &call.tool().unwrap().action_type;
        assert_eq!((action.kind(), &*call.content.decode()), (*kind, *title), "{agent} {name}");
        assert!(!is_unknown, "{agent} {name}");
    }
    assert!(mapped(agent, "frobnicate", "{}").1, "{agent}");
}

#[test]
fn every_tool_of_claude_code_has_its_kind_and_title() {
    have_their_kinds_and_titles(
        "claude",
        &[
            ("Read", r#"{"file_path":"/w/a.rs","limit":3}"#, Read, "a.rs"),
            ("LS", r#"{"path":"/w/src"}"#, Read, "src"),
            ("Write", r#"{"file_path":"/w/a","content":"x"}"#, Edit, "a"),
            ("NotebookEdit", r#"{"notebook_path":"/w/n.ipynb","new_source":"1"}"#, Edit, "n.ipynb"),
            ("Bash", r#"{"command":"ls","description":"List"}"#, Execute, "ls"),
            ("Glob", r#"{"pattern":"*.rs"}"#, Search, "*.rs"),
            ("Grep", r#"{"pattern":"fn","-n":true}"#, Search, "fn"),
            ("WebSearch", r#"{"query":"shops"}"#, Search, "shops"),
            ("WebFetch", r#"{"url":"https://x","prompt":"p"}"#, Fetch, "https://x"),
            ("TodoWrite", r#"{"todos":[]}"#, Think, "todo list"),
            ("TaskCreate", r#"{"subject":"Mend it","description":"d"}"#, Think, "Mend it"),
            ("TaskUpdate", r#"{"taskId":"7","status":"completed"}"#, Think, "task 7"),
            ("Agent", r#"{"description":"Look","prompt":"p"}"#, Other, "Look"),
            ("ExitPlanMode", r##"{"plan":"# Plan"}"##, Think, "plan"),
            ("AskUserQuestion", r#"{"questions":[{"question":"Which?"}]}"#, Other, "Which?"),
            ("KillShell", r#"{"shell_id":"1"}"#, Other, "KillShell"),
            ("mcp__desk__open", "{}", Other, "mcp__desk__open"),
        ],
    );
}

#[test]
fn every_tool_of_copilot_has_its_kind_and_title() {
    have_their_kinds_and_titles(
        "copilot",
        &[
            ("bash", r#"{"command":"ls","description":"List"}"#, Execute, "ls"),
            ("bash", r#""{\"command\":\"ls\"}""#, Execute, "ls"),
            ("view", r#"{"path":"/w/a.rs"}"#, Read, "a.rs"),
            ("create", r#"{"path":"/w/a","file_text":"x"}"#, Edit, "a"),
            ("edit", r#"{"path":"/w/a","old_str":"x","new_str":"y"}"#, Edit, "a"),
            ("apply_patch", r#""*** Delete File: /w/a\n""#, Delete, "a"),
            ("apply_patch", r#"{"input":"*** Delete File: /w/a"}"#, Delete, "a"),
            ("apply_patch", r#""none""#, Other, "apply_patch"),
            ("grep", r#"{"pattern":"fn"}"#, Search, "fn"),
            ("web_search", r#"{"query":"shops"}"#, Search, "shops"),
            ("web_fetch", r#"{"url":"https://a.b"}"#, Fetch, "https://a.b"),
            ("update_todo", r#"{"todos":"- [x] a"}"#, Think, "todo list"),
            ("task", r#"{"description":"Look","prompt":"p"}"#, Other, "Look"),
            ("ask_user", r#"{"question":"Which?","choices":["a"]}"#, Other, "Which?"),
            ("exit_plan_mode", r#"{"summary":"s"}"#, Think, "plan"),
            ("report_intent", r#"{"intent":"i"}"#, Other, "report_intent"),
        ],
    );
}

#[test]
fn every_tool_of_opencode_has_its_kind_and_title() {
    have_their_kinds_and_titles(
        "opencode",
        &[
            ("read", r#"{"filePath":"a.rs","offset":2}"#, Read, "a.rs"),
            ("list", r#"{"path":"src"}"#, Read, "src"),
            ("write", r#"{"filePath":"a","content":"x"}"#, Edit, "a"),
            ("edit", r#"{"filePath":"a","oldString":"x","newString":"y"}"#, Edit, "a"),
            ("apply_patch", r#"{"patchText":"*** Delete File: a"}"#, Delete, "a"),
            ("apply_patch", r#"{"patchText":"none"}"#, Other, "apply_patch"),
            ("bash", r#"{"command":"ls"}"#, Execute, "ls"),
            ("grep", r#"{"pattern":"fn"}"#, Search, "fn"),
            ("codesearch", r#"{"query":"serde"}"#, Search, "serde"),
            ("webfetch", r#"{"url":"https://a.b"}"#, Fetch, "https://a.b"),
            ("todowrite", r#"{"todos":[]}"#, Think, "todo list"),
            ("todoread", "{}", Think, "todo list"),
            ("task", r#"{"description":"Look","prompt":"p"}"#, Other, "Look"),
            ("question", r#"{"questions":[{"question":"Which?"}]}"#, Other, "Which?"),
            ("skill", r#"{"name":"x"}"#, Other, "skill"),
            ("desk_open", "{}", Other, "desk_open"),
        ],
    );
}

#[test]
fn what_an_action_has_no_place_for_is_kept() {
    let (call, _) = mapped("claude", "Bash", r#"{"command":"ls","timeout":600000}"#);
    let extra = &call.metadata.unwrap().extra;
    let extra: Vec<_> = extra.iter().map(|(name, json)| (name, json.get())).collect();
    assert_eq!(extra, [("timeout", "600000")]);
}

fn changes(agent: &str, name: &str, input: &str) -> Vec<FileChange> {
    let (call, _) = mapped(agent, name, input);
    match &call.tool().unwrap().action_type {
        ActionType::FileEdit { changes, .. } => changes.clone(),
        other => panic!("an edit, not {other:?}"),
    }
}

#[test]
fn several_edits_are_several_changes() {
    let input = r#"{"file_path":"/w/a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"1","new_string":"2"}]}"#;
    let changed = changes("claude", "MultiEdit", input);
    assert_eq!((changed.len(), &changed[1]), (2, &replacement(&"a".into(), "1", "2")));
    let edit = r#"{"oldString":"x","newString":"y"}"#;
    for (edits, changed) in
        [(format!("[{edit},{edit}]"), 2), (format!("[{edit},7]"), 1), ("7".to_owned(), 0)]
    {
        let input = format!(r#"{{"filePath":"a","edits":{edits}}}"#);
        assert_eq!(changes("opencode", "multiedit", &input).len(), changed, "{edits}");
    }
}

#[test]
fn arguments_that_are_no_object_stay_as_they_are() {
    for input in ["7", "[]", r#""x""#, r#""[1]""#] {
        let (call, _) = mapped("copilot", "bash", input);
        let ActionType::Tool { arguments, .. } = &call.tool().unwrap().action_type else {
            panic!("{input} is not a command")
        };
        assert_eq!(arguments.as_ref().map(Json::get), Some(input));
    }
}

#[test]
fn anything_may_stand_where_the_input_should() {
    let odd = r#"{"todos":7,"questions":"x","question":[],"edits":{},"oldString":1,"old_str":1,"input":{}}"#;
    for (agent, names) in [
        ("claude", "Read Edit Bash TodoWrite TaskGet AskUserQuestion Task"),
        ("copilot", "bash edit apply_patch update_todo ask_user task"),
        ("opencode", "read edit multiedit todowrite question task bash"),
    ] {
        for name in names.split(' ') {
            for input in ["null", "7", "[]", r#""x""#, odd] {
                assert!(!mapped(agent, name, input).1, "{agent} {name} {input}");
            }
        }
    }
}
