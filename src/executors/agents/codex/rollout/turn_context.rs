//! [`TurnContext`]: the settings of a turn.

use crate::{conversation::Text, executors::wire::Object};

/// The settings of a turn.
#[derive(Clone, Debug, Default)]
pub struct TurnContext {
    /// The directory that the agent works in.
    pub cwd: Option<Text>,
    /// The model.
    pub model: Option<Text>,
    /// How hard the model is told to think.
    pub effort: Option<Text>,
}

impl TurnContext {
    pub(super) fn take(payload: &mut Object<'_>) -> Self {
        let context = Self {
            cwd: payload.text("cwd"),
            model: payload.text("model"),
            effort: payload.text("effort"),
        };
        payload.ignore(&["turn_id", "summary", "personality", "current_date", "timezone"]);
        payload.ignore(&["user_instructions", "developer_instructions", "base_instructions"]);
        payload.ignore(&["approval_policy", "approvals_reviewer", "sandbox_policy"]);
        payload.ignore(&["permission_profile", "active_permission_profile", "network"]);
        payload.ignore(&["file_system_sandbox_policy", "workspace_roots", "truncation_policy"]);
        payload.ignore(&["collaboration_mode", "multi_agent_mode", "multi_agent_version"]);
        payload.ignore(&["realtime_active", "comp_hash", "final_output_json_schema"]);
        context
    }
}
