//! Maps the functions and custom tools of rollout files to [`ActionType`]s.
//!
//! Arguments are JSON text in a JSON string; custom tools take any text (a patch, JavaScript). Parameters without a
//! field in the action are kept in the entry's metadata.

use foldline_domain::EscapedText;

use super::tools::agent_call;
use crate::{action::*, command_line::command_line, prelude::*};

/// Known tools without a separate action.
const PLAIN_TOOLS: &str = "image_generation js_repl list_mcp_resource_templates \
    list_mcp_resources read_mcp_resource request_permissions wait write_stdin";

/// Tools that work with sub-agents.
const AGENT_TOOLS: &str = "spawn_agent send_input send_message followup_task wait wait_agent \
    close_agent resume_agent interrupt_agent list_agents";

/// The name of a tool with its namespace.
pub(super) fn full_name<'n>(namespace: Option<&str>, name: &'n str) -> Cow<'n, str> {
    match namespace.filter(|namespace| !namespace.is_empty()) {
        Some(namespace) if name.starts_with(namespace) => name.into(),
        Some(namespace) if namespace.ends_with("__") => format!("{namespace}{name}").into(),
        Some(namespace) => format!("{namespace}__{name}").into(),
        None => name.into(),
    }
}

/// Maps a call of the tool `name` with `input`.
pub(super) fn map(
    namespace: Option<&str>,
    name: &str,
    input: Option<Raw<'_>>,
    cwd: Option<&str>,
) -> MappedCall {
    let text = input.map(|raw| value::as_str(raw).unwrap_or(Cow::Borrowed(raw.get())));
    let text = text.as_deref().unwrap_or_default();
    let arguments: Option<Raw<'_>> = serde_json::from_str(text).ok();
    let given: Option<Object<'_>> = arguments.and_then(value::object);
    let name = full_name(namespace, name);
    let mapped = match given {
        Some(mut given) => {
            let action = map_arguments(&name, &mut given, cwd);
            action.map(|action| MappedCall::known(action, given))
        }
        None => {
            let action = map_text(&name, text, cwd);
            action.map(MappedCall::from)
        }
    };
    mapped.unwrap_or_else(|| {
        let mut call = MappedCall::tool(&name, arguments);
        if let (ActionType::Tool { arguments: none @ None, .. }, false) =
            (&mut call.action, text.is_empty())
        {
            *none = Some(Json::from(Text::from(text)));
        }
        // A namespace belongs to an MCP server, or to the client that offers the tool.
        call.unknown = namespace.is_none() && !is_among(PLAIN_TOOLS, &name) && !is_mcp_tool(&name);
        call
    })
}

fn map_arguments(name: &str, given: &mut Object<'_>, cwd: Option<&str>) -> Option<Titled> {
    Some(match name {
        "exec_command" | "shell" | "shell_command" | "local_shell" | "container.exec"
        | "unified_exec" | "exec" => {
            if let Some(edit) = patch_of_arguments(given, cwd) {
                return Some(edit);
            }
            let command = given.take("cmd", command_line);
            command_run(Some(command.or_else(|| given.take("command", command_line))?))
        }
        "apply_patch" => take_patch(given, &["patch", "input"], cwd)?,
        "update_plan" => (todo_list("write", todo_items(&given.array("plan")?)).0, "plan".into()),
        "view_image" | "read_file" | "list_dir" => {
            let path =
                ["path", "file_path", "dir_path"].into_iter().find_map(|key| given.str(key))?;
            file_read(files::relative_path(&path, cwd))
        }
        "grep_files" | "web_search" | "tool_search" => {
            search(Some(given.text("pattern").or_else(|| given.text("query"))?))
        }
        "request_user_input" => {
            let questions = given.array("questions")?.into_iter().map(|raw| {
                let question = value::object(raw);
                question.and_then(|mut question| question.text("question"))
            });
            let questions: Vec<_> = questions.flatten().collect();
            let title = questions.first().cloned()?;
            (ActionType::Question { questions, result: None }, title)
        }
        // The JavaScript tool has its own `wait`.
        "wait" if given.has("cell_id") => return None,
        _ if is_among(AGENT_TOOLS, name) => {
            let prompt = ["message", "prompt", "input"].into_iter().find_map(|key| given.text(key));
            let call = agent_call(name, prompt, given.text("agent_type"));
            (call.action, call.title)
        }
        _ => return None,
    })
}

fn map_text(name: &str, text: &str, cwd: Option<&str>) -> Option<Titled> {
    match name {
        "apply_patch" => file_patch(text, cwd),
        "exec" | "shell" if !text.is_empty() => Some(command_run(Some(text.into()))),
        _ => None,
    }
}

/// `["apply_patch", "*** Begin Patch.."]`: models call the patch program like a command.
fn patch_of_arguments(given: &mut Object<'_>, cwd: Option<&str>) -> Option<Titled> {
    given.take("command", |raw| {
        let arguments: Vec<Raw<'_>> = value::elements(raw)?;
        let [program, patch] = arguments.as_slice() else { return None };
        (value::as_str(*program)? == "apply_patch").then_some(())?;
        file_patch(EscapedText::of_raw(*patch)?, cwd)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_domain::FileChange;

    fn map_input(name: &str, input: &str) -> MappedCall {
        let input = serde_json::value::to_raw_value(input).unwrap();
        map(None, name, Some((&*input).into()), Some("/srv/ada"))
    }

    #[test]
    fn arguments_are_json_within_a_string() {
        let call = map_input("exec_command", r#"{"cmd":"ls","workdir":"/srv/ada"}"#);
        assert_eq!(call.action, ActionType::CommandRun { command: "ls".into(), result: None });
        assert_eq!(call.extra[0].0, "workdir");

        let call = map_input("shell", r#"{"command":["bash","-lc","ls -la"]}"#);
        assert_eq!(call.title, "ls -la");
    }

    #[test]
    fn patches_come_in_three_ways() {
        let patch = "*** Begin Patch\n*** Add File: /srv/ada/a\n+x\n*** End Patch";
        let as_json = |value: serde_json::Value| value.to_string();
        for (name, input) in [
            ("apply_patch", patch.to_owned()),
            ("apply_patch", as_json(serde_json::json!({ "patch": patch }))),
            ("shell", as_json(serde_json::json!({ "command": ["apply_patch", patch] }))),
        ] {
            let ActionType::FileEdit { changes, .. } = map_input(name, &input).action else {
                panic!("{name} {input} is an edit")
            };
            assert_eq!(
                changes,
                [FileChange::Write { path: "a".into(), content: "x\n".into() }],
                "{name} {input}"
            );
        }
    }

    #[test]
    fn strange_arguments_are_kept() {
        let null = Raw::parse("null").unwrap();
        let call = map(Some("mcp__db"), "query", Some(null), None);
        assert!(!call.unknown);
        assert_eq!(call.title, "mcp__db__query");

        let call = map_input("telepathy", "not json");
        assert!(call.unknown);
        let ActionType::Tool { arguments, .. } = call.action else { panic!("a plain tool") };
        assert_eq!(arguments.unwrap().get(), r#""not json""#);

        let call = map_input("exec_command", r#"{"cmd":7}"#);
        assert_eq!(call.action.name(), "tool");
    }
}
