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
    let Some(mut given) = action::parameters(arguments) else {
        return MappedCall::tool(name, arguments);
    };
    let action = match name {
        "Bash" => command_run(given.text("command")),
        "Read" | "ReadMediaFile" => file_read(take_path(&mut given, "path", cwd)),
        "Write" => file_write(take_path(&mut given, "path", cwd), given.text("content")),
        "Edit" => {
            let path = take_path(&mut given, "path", cwd);
            let names = match given.has("old_string") {
                true => ["old_string", "new_string"],
                false => ["old", "new"],
            };
            file_replacement(path, &mut given, names)
        }
        "Glob" | "Grep" => search(given.text("pattern")),
        "WebSearch" => search(given.text("query")),
        "FetchURL" => web_fetch(given.text("url")),
        "Agent" => take_task(&mut given, "subagent_type"),
        "TodoList" => todo_list("write", take_todos(&mut given)),
        "AskUserQuestion" => take_questions(&mut given),
        "ExitPlanMode" => plan_presentation(plan),
        _ => {
            let is_known = is_among(PLAIN_TOOLS, name) || is_mcp_tool(name);
            return MappedCall::other(name, arguments, is_known);
        }
    };
    MappedCall::known(action, given)
}
