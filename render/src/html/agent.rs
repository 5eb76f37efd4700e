//! The families of agents for which the style sheet has a mark.

/// The family of an agent, for the attribute `data-agent` of the style sheet; `other` if it has no mark.
///
/// ```
/// use foldline_render::html::agent_family;
///
/// assert_eq!([agent_family("claude-code"), agent_family("amp")], ["claude", "other"]);
/// ```
pub fn agent_family(agent: &str) -> &'static str {
    let known = ["claude", "codex", "droid", "gemini", "cursor"];
    known.into_iter().find(|known| agent.starts_with(known)).unwrap_or("other")
}
