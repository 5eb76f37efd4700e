//! Maps the tools of Kimi Code to [`ActionType`](foldline_domain::ActionType)s.
//!
//! Parameters without a field in the action are kept in the entry's metadata.

use crate::{action::*, prelude::*};

/// Known tools without a separate action.
const PLAIN_TOOLS: &str = "AgentSwarm CreateGoal CronCreate CronDelete CronList EnterPlanMode GetGoal \
    SetGoalBudget Skill TaskList TaskOutput TaskStop UpdateGoal";

/// Maps a call of the tool `name`, which may present a plan.
pub(super) fn map(
    name: &str,
    arguments: Option<Raw<'_>>,
    plan: Option<Text>,
    cwd: Option<&str>,
) -> MappedCall {
    let is_plain = || is_among(PLAIN_TOOLS, name) || is_mcp_tool(name);
    MappedCall::of(name, arguments, is_plain, |given| action(name, given, plan, cwd))
}

/// The action of a call; `None` if it has no separate one.
fn action(
    name: &str,
    given: &mut Object<'_>,
    plan: Option<Text>,
    cwd: Option<&str>,
) -> Option<Titled> {
    Some(match name {
        "Bash" => command_run(given.text("command")),
        "Read" | "ReadMediaFile" => file_read(take_path(given, "path", cwd)),
        "Write" => file_write(take_path(given, "path", cwd), given.text("content")),
        "Edit" => {
            let path = take_path(given, "path", cwd);
            let names = match given.has("old_string") {
                true => ["old_string", "new_string"],
                false => ["old", "new"],
            };
            file_replacement(path, given, names)
        }
        "Glob" | "Grep" => search(given.text("pattern")),
        "WebSearch" => search(given.text("query")),
        "FetchURL" => web_fetch(given.text("url")),
        "Agent" => take_task(given, "subagent_type"),
        "TodoList" => todo_list("write", take_todos(given)),
        "AskUserQuestion" => take_questions(given),
        "ExitPlanMode" => plan_presentation(plan),
        _ => return None,
    })
}
