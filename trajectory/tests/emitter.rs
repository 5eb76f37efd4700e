//! Documents of invented events.

use std::sync::Arc;

use foldline_domain::{
    ActionType, CommandExitStatus, CommandRunResult, Content, DomainEvent, Image, Json,
    NormalizedEntry, NormalizedEntryType, OF_WINDOW, Session, Text, Timestamp, TokenUsage,
    ToolResult, ToolStatus, ToolUse,
    pricing::{Cost, CostBasis, Prices},
};
use foldline_trajectory::Atif;
use serde_json::{Value, json};

const PIXEL: &str = "R0lGODlhAQABAAAAACwAAAAAAQABAAA=";

/// An entry of the message with the id, at a time.
fn entry(kind: NormalizedEntryType, text: &str, id: &str, at: i64) -> NormalizedEntry {
    let mut entry = NormalizedEntry::new(kind, text).at(Some(Timestamp::from_millis(at)));
    if !id.is_empty() {
        entry.metadata_mut().message_id = Some(id.into());
    }
    entry
}

/// A call and its end.
fn call(id: &str, action: ActionType, result: &str, message: &str) -> [DomainEvent; 2] {
    let tool = ToolUse::new("tool", action);
    let mut open = entry(NormalizedEntryType::ToolUse(tool), "title", message, 4_000);
    open.metadata_mut().corr_id = Some(id.into());
    let mut done = open.clone();
    done.tool_mut().unwrap().complete(ToolStatus::Success, result);
    let corr_id = id.into();
    [
        DomainEvent::NewToolCall { corr_id, entry: open.into() },
        DomainEvent::UpdateToolCall { corr_id: id.into(), entry: done.into() },
    ]
}

fn used(message: &str, input: u64) -> DomainEvent {
    let usage = TokenUsage {
        input_tokens: Some(input),
        cache_write_tokens: Some(1),
        ..TokenUsage::default()
    };
    let (model, message_id) = (Some("large".into()), Some(message.into()));
    DomainEvent::Usage { usage: Box::new(usage), model, message_id, timestamp: None }
}

fn document(events: &[DomainEvent], change: impl FnOnce(&mut Atif)) -> Value {
    let prices = Prices::read(r#"{"large": {"input_cost_per_token": 0.5, "output_cost_per_token": 0.5, "cache_creation_input_token_cost": 0.5}}"#).unwrap();
    let mut atif = Atif::default().with_prices(Arc::new(prices));
    events.iter().for_each(|event| atif.apply(event));
    change(&mut atif);
    serde_json::from_str(&atif.render().unwrap().0).unwrap()
}

/// A list of a field of each step.
fn each(steps: &Value, field: &str) -> Vec<Value> {
    steps.as_array().unwrap().iter().map(|step| step[field].clone()).collect()
}

fn list() -> ActionType {
    ActionType::CommandRun { command: "ls".into(), result: None }
}

#[test]
fn a_request_with_its_results_is_a_step() {
    use NormalizedEntryType::{AssistantMessage, Compaction, Thinking, UserMessage};
    let said = |kind, text, id, at| vec![DomainEvent::entry(entry(kind, text, id, at))];
    let (first, second) = (call("c1", list(), "a.txt", "m1"), call("c2", list(), "b.txt", "m1"));
    let arguments = Json::from(&json!({"n": 1}));
    let any =
        ActionType::Tool { tool_name: "any".into(), arguments: Some(arguments), result: None };
    let events = [
        vec![DomainEvent::Session(Box::new(Session {
            session_id: Some("s-1".into()),
            agent: Some("droid".into()),
            cwd: Some("/work".into()),
            tools: Some(vec!["tool".into()]),
            ..Session::default()
        }))],
        said(UserMessage, "List.", "", 1_000),
        said(Thinking, "Hm.", "m1", 2_000),
        said(AssistantMessage, "I list.", "m1", 3_000),
        vec![first[0].clone(), second[0].clone(), first[1].clone(), second[1].clone()],
        vec![used("m1", 10), used("m1", 4)],
        // No result came, but the message is another one.
        said(AssistantMessage, "Done.", "m2", 5_000),
        call("c3", any, "7", "m2").to_vec(),
        vec![used("m2", 6)],
        said(Compaction, "compacted", "", -70_000_000_000_000),
    ];
    let document = document(&events.concat(), |_| {});
    let steps = &document["steps"];
    assert_eq!(each(steps, "step_id"), [1, 2, 3, 4]);
    assert_eq!(each(steps, "source"), ["user", "agent", "agent", "system"]);
    assert_eq!(each(steps, "message"), ["List.", "I list.", "Done.", "compacted"]);
    assert_eq!(steps[1]["reasoning_content"], "Hm.");
    assert_eq!(steps[1]["timestamp"], "1970-01-01T00:00:02Z");
    assert_eq!(each(&steps[1]["tool_calls"], "tool_call_id"), ["c1", "c2"]);
    assert_eq!(
        each(&steps[1]["tool_calls"], "arguments"),
        [json!({"command": "ls"}), json!({"command": "ls"})]
    );
    let results = &steps[1]["observation"]["results"];
    assert_eq!(each(results, "source_call_id"), ["c1", "c2"]);
    assert_eq!(each(results, "content"), ["a.txt", "b.txt"]);
    assert_eq!(steps[2]["tool_calls"][0]["arguments"], json!({"n": 1}));
    let metrics = json!({"prompt_tokens": 14, "cost_usd": 7.0, "extra": {"cache_write_tokens": 2, "cost_basis": "estimated"}});
    assert_eq!(steps[1]["metrics"], metrics);
    assert_eq!(steps[1]["llm_call_count"], Value::Null);
    assert_eq!(steps[2]["metrics"]["prompt_tokens"], 6);
    assert_eq!(document["final_metrics"]["total_prompt_tokens"], 20);
    // ATIF has no field for these, and no time before the year 1.
    assert_eq!(document["extra"]["foldline"]["session"], json!({"cwd": "/work"}));
    let rest = &steps[3]["extra"]["foldline"]["message"];
    assert_eq!(
        *rest,
        json!({"entry": 7, "timestamp": -70_000_000_000_000_i64, "entry_type": {"type": "compaction"}})
    );
    assert_eq!(steps[3]["timestamp"], Value::Null);
    let agent = json!({
        "name": "droid", "version": "unknown",
        "tool_definitions": [{"type": "function", "function": {"name": "tool"}}],
    });
    assert_eq!(document["agent"], agent);
}

#[test]
fn without_message_ids_a_result_ends_a_step() {
    let (first, second) = (call("c1", list(), "a", ""), call("c2", list(), "b", ""));
    let thought = DomainEvent::entry(NormalizedEntry::new(NormalizedEntryType::Thinking, "Hm."));
    let mut events = [first, second].concat();
    events.push(thought.clone());
    events.push(thought);
    let steps = document(&events, |_| {})["steps"].clone();
    assert_eq!(steps.as_array().unwrap().len(), 4);
    // Only calls, or only reasoning.
    assert_eq!(each(&steps, "message"), ["", "", "", ""]);
    assert_eq!(steps[0]["extra"]["foldline"].get("message"), None);
}

#[test]
fn a_sub_agent_is_a_trajectory_that_its_call_refers_to() {
    let task = ActionType::TaskCreate {
        description: "Count".into(),
        prompt: None,
        subagent_type: None,
        result: None,
    };
    let [mut open, mut done] = call("t1", task, "3 geese", "");
    for event in [&mut open, &mut done] {
        let (DomainEvent::NewToolCall { entry, .. } | DomainEvent::UpdateToolCall { entry, .. }) =
            event
        else {
            panic!("a call")
        };
        Arc::make_mut(entry).metadata_mut().child_session_id = Some("s-2".into());
    }
    let nested = |text: &str, parent: &str| {
        let mut said = entry(NormalizedEntryType::AssistantMessage, text, "", 5_000);
        said.metadata_mut().parent_corr_id = Some(parent.into());
        DomainEvent::entry(said)
    };
    let events = [open, nested("One", "t1"), nested("Two", "t1"), nested("?", "lost"), done];
    let document = document(&events, |_| {});
    assert_eq!(document["steps"].as_array().unwrap().len(), 1);
    let result = &document["steps"][0]["observation"]["results"][0];
    assert_eq!(result["content"], "3 geese");
    let refers = json!([{"trajectory_id": "t1", "session_id": "s-2"}]);
    assert_eq!(result["subagent_trajectory_ref"], refers);
    let nested = &document["subagent_trajectories"];
    assert_eq!(each(nested, "trajectory_id"), ["t1", "lost"]);
    assert_eq!(each(&nested[0]["steps"], "message"), ["One", "Two"]);
    assert_eq!(nested[0]["steps"][1]["extra"]["foldline"]["message"]["entry"], 2);
}

#[test]
fn pictures_are_in_files_or_in_the_document() {
    let mut content = Content::from("Look: ");
    content.push("", Content::picture("[image]", Image::from_base64(PIXEL).unwrap()));
    content.push("", Content::picture("[lost]", Image::without_content("image/png")));
    let mut asked = entry(NormalizedEntryType::UserMessage, "", "", 1_000);
    (asked.content, asked.metadata_mut().images) = (content.text, content.images);
    let events = [DomainEvent::entry(asked)];
    let within = document(&events, |_| {});
    let message = |path: &str| {
        json!([
            {"type": "text", "text": "Look: "},
            {"type": "image", "source": {"media_type": "image/gif", "path": path}},
            {"type": "text", "text": "[lost]"},
        ])
    };
    assert_eq!(within["steps"][0]["message"], message(&format!("data:image/gif;base64,{PIXEL}")));
    let mut atif = Atif::default();
    events.iter().for_each(|event| atif.apply(event));
    atif.set_folder("x.images");
    let (text, pictures) = atif.render().unwrap();
    let beside: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(beside["steps"][0]["message"], message("x.images/1.gif"));
    assert_eq!((&*pictures[0].path, &pictures[0].data), ("x.images/1.gif", &Text::from(PIXEL)));
}

#[test]
fn what_belongs_to_no_step_is_kept() {
    let window = DomainEvent::Usage {
        usage: Box::new(TokenUsage { cost_usd: Some(2.5), ..TokenUsage::default() }),
        model: None,
        message_id: Some(format!("{OF_WINDOW}0").into()),
        timestamp: None,
    };
    let cost = Cost { usd: 3.0, basis: CostBasis::Mixed };
    let empty = document(&[window], |atif| {
        atif.set_cost(cost);
        atif.set_note("a note");
    });
    let usages = json!([{"cost_usd": 2.5, "message_id": "window:0"}]);
    assert_eq!(empty["extra"]["foldline"]["usages"], usages);
    assert_eq!(
        (&empty["final_metrics"]["total_cost_usd"], &empty["notes"]),
        (&json!(3.0), &json!("a note"))
    );
    // A document has a step at least.
    let step =
        json!([{"step_id": 1, "source": "system", "message": "", "extra": {"foldline": {}}}]);
    assert_eq!(empty["steps"], step);
}

#[test]
fn results_that_are_data_or_only_a_status_are_stated() {
    let exit = CommandRunResult::new(Some(CommandExitStatus::ExitCode { code: 2 }), None);
    let silent = ActionType::CommandRun { command: "false".into(), result: Some(exit) };
    let data = ActionType::Search {
        query: "q".into(),
        result: Some(ToolResult::Json(Json::from(&json!([1])))),
    };
    let events: Vec<_> = [("c1", silent), ("c2", data)]
        .into_iter()
        .map(|(id, action)| {
            let mut tool = ToolUse::new("tool", action);
            tool.status = ToolStatus::Failed;
            let entry = NormalizedEntry::new(NormalizedEntryType::ToolUse(tool), "title");
            DomainEvent::NewToolCall { corr_id: id.into(), entry: entry.into() }
        })
        .collect();
    let step = document(&events, |_| {})["steps"][0].clone();
    let results = &step["observation"]["results"];
    assert_eq!(*results, json!([{"source_call_id": "c2", "content": "[1]"}]));
    let rests = each(&step["tool_calls"], "extra");
    assert_eq!(
        rests[0]["foldline"]["entry_type"]["action_type"]["result"]["exit_status"]["code"],
        2
    );
    assert_eq!(rests[1]["foldline"]["is_json"], true);
}
