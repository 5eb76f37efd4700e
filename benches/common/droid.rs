//! A generated Droid log, and the cost of merely parsing it.

use serde::Deserialize;
use serde_json::{Value, json};

use super::Random;

/// A log of about `bytes` bytes, one session, mean line 1 KB: the mix of tools and sizes of the real
/// captures (half the calls read or search, a quarter run commands, the rest edit and plan).
pub fn log(bytes: usize, seed: u64) -> String {
    let mut random = Random(seed);
    let mut log = String::with_capacity(bytes + 4096);
    let session = "608a704f-8a2d-45ef-8ac5-647ec9d48806";
    let mut now = 1_760_806_536_533u64;
    let line = |log: &mut String, value: Value| {
        log.push_str(&value.to_string());
        log.push('\n');
    };
    line(
        &mut log,
        json!({"type":"system","subtype":"init","cwd":"/home/me/project","session_id":session,"tools":["Read","LS","Execute","Edit","MultiEdit","ApplyPatch","Grep","Glob","Create","TodoWrite"],"model":"gpt-5-codex"}),
    );
    let mut number = 0;
    while log.len() < bytes {
        now += random.below(5_000);
        number += 1;
        if random.below(8) == 0 {
            let size = 200 + random.below(1200);
            line(
                &mut log,
                json!({"type":"message","role":"assistant","id":format!("5b30a4b8-13e8-4dd8-9b50-{number:012}"),"text":random.text(size),"timestamp":now,"session_id":session}),
            );
            continue;
        }
        let (tool, parameters, value) = call(&mut random);
        let id = format!("call_{number:024}");
        let message = format!("9c6bb84b-50c9-46e2-a71a-{number:012}");
        line(
            &mut log,
            json!({"type":"tool_call","id":id,"messageId":message,"toolId":tool,"toolName":tool,"parameters":parameters,"timestamp":now,"session_id":session}),
        );
        now += random.below(900);
        let result_message = format!("496a59cc-bab5-430a-83a1-{number:012}");
        let result = match random.below(20) {
            0 => {
                json!({"type":"tool_result","id":id,"messageId":result_message,"toolId":"","isError":true,"error":{"type":"tool_error","message":"Error: no such file"},"timestamp":now,"session_id":session})
            }
            _ => {
                json!({"type":"tool_result","id":id,"messageId":result_message,"toolId":"","isError":false,"value":value,"timestamp":now,"session_id":session})
            }
        };
        line(&mut log, result);
    }
    log
}

fn call(random: &mut Random) -> (&'static str, Value, String) {
    let path = format!("/home/me/project/src/module_{}.rs", random.below(400));
    match random.below(20) {
        0..6 => {
            let size = 500 + random.below(5_000);
            ("Read", json!({"file_path":path}), random.text(size))
        }
        6..9 => {
            let size = 100 + random.below(1_500);
            ("Grep", json!({"pattern":"fn \\w+\\(","path":"/home/me/project"}), random.text(size))
        }
        9 => ("LS", json!({"directory_path":"/home/me/project"}), random.text(600)),
        10..15 => {
            let size = 50 + random.below(3_000);
            let output = random.text(size) + "\n\n\n[Process exited with code 0]";
            (
                "Execute",
                json!({"command":"cargo test --all","timeout":120,"riskLevel":{"value":"low","reason":"Runs the tests."}}),
                output,
            )
        }
        15 | 16 => {
            let old = random.text(300);
            let new = old.replacen("value", "amount", 2);
            (
                "Edit",
                json!({"file_path":path,"old_str":old,"new_str":new}),
                "{\"diffLines\":[]}".to_owned(),
            )
        }
        17 => {
            let size = 500 + random.below(4_000);
            let content = random.text(size);
            (
                "Create",
                json!({"file_path":path,"content":content}),
                "File created successfully".to_owned(),
            )
        }
        18 => {
            let patch =
                format!("*** Begin Patch\n*** Update File: {path}\n@@\n-old\n+new\n*** End Patch");
            ("ApplyPatch", json!({"input":patch}), "{\"success\":true}".to_owned())
        }
        _ => {
            let todos: Vec<_> = (0..5).map(|id| json!({"id":id.to_string(),"content":random.text(40),"status":"pending","priority":"high"})).collect();
            ("TodoWrite", json!({"todos":todos}), "TODO List Updated".to_owned())
        }
    }
}

/// The parse floor: each line into a flat struct with owned strings.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Flat {
    pub r#type: String,
    pub subtype: Option<String>,
    pub role: Option<String>,
    pub id: Option<String>,
    pub message_id: Option<String>,
    pub tool_id: Option<String>,
    pub tool_name: Option<String>,
    pub text: Option<String>,
    pub parameters: Option<Value>,
    pub is_error: Option<bool>,
    pub value: Option<String>,
    pub error: Option<Value>,
    pub timestamp: Option<u64>,
    #[serde(rename = "session_id")]
    pub session_id: Option<String>,
    pub model: Option<String>,
    pub cwd: Option<String>,
    pub tools: Option<Vec<String>>,
}
