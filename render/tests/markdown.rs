//! The document as a whole.

use foldline_domain::{
    ActionType, DomainEvent, NormalizedEntry,
    NormalizedEntryType::{AssistantMessage, ToolUse, UserMessage},
    Session, ToolStatus,
};
use foldline_render::markdown::Markdown;

#[test]
fn a_session_reads_like_this() {
    let action = ActionType::CommandRun { command: "ls".into(), result: None };
    let mut tool = foldline_domain::ToolUse::new("Bash", action);
    tool.complete(ToolStatus::Failed, "\u{1b}[31mno\u{1b}[0m\n```\n# such file");
    tool.duration_ms = Some(1_200);
    let session = Session { title: Some("A *title*".into()), ..Session::default() };
    let entry = |kind, words: &str| DomainEvent::entry(NormalizedEntry::new(kind, words));
    let events = [
        DomainEvent::Session(Box::new(session)),
        entry(UserMessage, "List\n\n# files"),
        entry(AssistantMessage, "Look:\n\n```sh\nls"),
        entry(ToolUse(tool), "ls"),
    ];
    let mut document = Markdown::default();
    events.iter().for_each(|event| document.apply(event));
    let expected = "# A \\*title\\*\n\n\n## You\n\n> List\n>\n> # files\n\n## Agent\n\n\
        Look:\n\n```sh\nls\n```\n\n### Bash `ls`\n\nfailed, 1.2 s\n\n````\nno\n```\n# such file\n````\n";
    assert_eq!(document.render(), expected);
}
