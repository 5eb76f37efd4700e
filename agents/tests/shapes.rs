//! Content blocks, arguments, file changes and command lines in the forms of several agents.

use foldline_agents::{
    action::{take_exit_status, take_questions, take_todos},
    command_line::command_line,
    content::{Blocks, media_of_base64},
    diff::unified_diff,
    files::{read_patch, relative_path},
    wire::Object,
};
use foldline_domain::{ActionType, CommandExitStatus, EscapedText, FileChange};
use foldline_json::Raw;
use proptest::prelude::*;

fn read_blocks(json: &str) -> Blocks {
    Blocks::read(serde_json::from_str(json).unwrap())
}

#[test]
fn images_are_placeholders() {
    for (json, shown) in [
        (
            r#"[{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}]"#,
            "[image: image/png, 5 bytes]",
        ),
        (
            r#"{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"aGVsbG8h"}}"#,
            "[image: image/jpeg, 6 bytes]",
        ),
        (
            r#"[{"type":"input_image","image_url":"data:image/gif;base64,aGVsbA=="}]"#,
            "[image: image/gif, 4 bytes]",
        ),
        (
            r#"[{"type":"input_image","image_url":"https://example.com/a.png"}]"#,
            "[image: https://example.com/a.png]",
        ),
        (r#"[{"type":"input_image","image_url":null}]"#, "[image: unknown type]"),
        (
            r#"[{"image":{"data":"aGVsbG8=","mimeType":"image/png"}}]"#,
            "[image: image/png, 5 bytes]",
        ),
    ] {
        assert_eq!(read_blocks(json).content().text, shown, "{json}");
        assert!(read_blocks(json).words().is_empty(), "{json}");
    }
}

#[test]
fn a_placeholder_says_what_it_stands_for() {
    assert_eq!(media_of_base64("video/mp4", "aGVsbG8=").text, "[video: video/mp4, 5 bytes]");
    assert_eq!(media_of_base64("application/pdf", "").text, "[file: application/pdf, 0 bytes]");
}

#[test]
fn an_unknown_block_leaves_the_others() {
    let blocks = read_blocks(
        r#"[{"type":"text","text":"a"},{"type":"hologram","x":1},{"type":"text","text":"b"}]"#,
    );
    assert_eq!(blocks.content().text, "a\nb");
    assert_eq!(blocks.unknown.len(), 1);
    assert_eq!(blocks.unknown[0].0, "hologram");
    let named = read_blocks(r#"[{"text":{"text":"a"}},{"hologram":{"x":1}},{"a":{},"b":{}}]"#);
    assert_eq!(named.content().text, "a");
    assert_eq!(named.unknown[0].0, "hologram");
    assert_eq!(named.unknown[1].0, "no type");
}

#[test]
fn resources_are_named_and_their_text_is_there() {
    let read = |inner: &str| {
        let json = format!(r#"{{"type":"resource","resource":{{"uri":"file:///a"{inner}}}}}"#);
        read_blocks(&json).content().text.into_string()
    };
    assert_eq!(read(r#","text":"b","mimeType":"text/plain""#), "[resource: file:///a]\nb");
    assert_eq!(read(r#","blob":"aGVsbG8=""#), "[resource: file:///a, 5 bytes]");
}

#[test]
fn what_nobody_takes_of_a_block_stays() {
    let json = r#"[{"type":"text","text":"a","mood":"calm","annotations":{}},{"type":"audio","data":"aGVsbG8=","loud":1}]"#;
    let (blocks, fields) = Blocks::read_with_fields(serde_json::from_str(json).unwrap());
    assert_eq!(blocks.content().text, "a\n[audio: audio, 5 bytes]");
    let names: Vec<_> = fields.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["text.mood", "audio.loud"]);
}

#[test]
fn parts_that_end_their_line_are_joined_as_they_are() {
    let blocks = read_blocks(
        r#"[{"type":"input_text","text":"Output:\n"},{"type":"input_text","text":"x\n"}]"#,
    );
    assert_eq!(blocks.content().text, "Output:\nx\n");
    assert_eq!(read_blocks(r#""plain""#).content().text, "plain");
}

#[test]
fn paths_below_the_directory_are_relative() {
    let cwd = Some("/home/me/project");
    assert_eq!(relative_path("/home/me/project/src/a.rs", cwd), "src/a.rs");
    assert_eq!(relative_path("/home/me/project2/a.rs", cwd), "/home/me/project2/a.rs");
    assert_eq!(relative_path("/home/me/project", cwd), "/home/me/project");
    assert_eq!(relative_path("C:\\work\\a.rs", Some("C:\\work\\")), "a.rs");
    assert_eq!(relative_path("a.rs", None), "a.rs");
}

#[test]
fn patch_texts_may_change_several_files() {
    let patch = "*** Begin Patch\n*** Add File: /w/new.txt\n+one\n+two\n*** Update File: /w/a.rs\n*** Move to: /w/b.rs\n@@\n-x\n+y\n*** Delete File: /w/c.rs\n*** End Patch";
    assert_eq!(
        read_patch(patch, Some("/w")),
        [
            FileChange::Write { path: "new.txt".into(), content: "one\ntwo\n".into() },
            FileChange::Rename { path: "a.rs".into(), new_path: "b.rs".into() },
            FileChange::Edit {
                path: "a.rs".into(),
                unified_diff: "@@\n-x\n+y\n".into(),
                has_line_numbers: false
            },
            FileChange::Delete { path: "c.rs".into() },
        ]
    );
    assert_eq!(read_patch("not a patch", None), []);
}

#[test]
fn a_patch_says_the_same_as_it_is_spelt_and_decoded() {
    let literal = r#""*** Begin Patch\n*** Add File: \"a\\n\".txt\r\n+\tone\r\n+\\n\n*** Update File: b\/c\n@@\n-\"x\n+*** y\n*** End of File\n*** not a header\n z""#;
    let spelt = EscapedText::of_raw(Raw::parse(literal).unwrap()).unwrap();
    assert!(matches!(spelt, EscapedText::Escaped(_)));
    let decoded: String = serde_json::from_str(literal).unwrap();
    let changes = read_patch(spelt, None);
    assert_eq!(changes, read_patch(&decoded, None));
    assert_eq!(
        changes,
        [
            FileChange::Write { path: "\"a\\n\".txt".into(), content: "\tone\n\\n\n".into() },
            FileChange::Edit {
                path: "b/c".into(),
                unified_diff: "@@\n-\"x\n+*** y\n*** not a header\n z\n".into(),
                has_line_numbers: false
            },
        ]
    );
}

#[test]
fn command_lines_read_as_somebody_would_type_them() {
    for (json, line) in [
        (r#""/bin/bash -lc 'ls -la'""#, "/bin/bash -lc 'ls -la'"),
        (r#"["bash","-lc","cd x && ls"]"#, "cd x && ls"),
        (r#"["git","commit","-m","it's done"]"#, r"git commit -m 'it'\''s done'"),
        (r#"["ls"]"#, "ls"),
        (r#"["printf",""]"#, "printf ''"),
    ] {
        let raw = serde_json::from_str(json).unwrap();
        assert_eq!(command_line(raw), Some(line.into()), "{json}");
    }
    assert_eq!(command_line(serde_json::from_str(r#"["ls", 1]"#).unwrap()), None);
}

#[test]
fn a_diff_begins_with_its_hunk() {
    assert_eq!(unified_diff("a\nb\n", "a\nc\n"), "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
    assert_eq!(unified_diff("x", "y"), "@@ -1 +1 @@\n-x\n+y\n");
    assert_eq!(unified_diff("", "y\n"), "@@ -0,0 +1 @@\n+y\n");
    assert_eq!(unified_diff("same", "same"), "");
    let (old, new) = ("a\n".repeat(9000), "b\n".repeat(3));
    let expected = format!("@@ -1,9000 +1,3 @@\n{}+b\n+b\n+b\n", "-a\n".repeat(9000));
    assert_eq!(unified_diff(&old, &new), *expected);
}

#[test]
fn changes_near_each_other_share_a_hunk() {
    let numbers = |changed: &[u32]| -> String {
        let line = |n| if changed.contains(&n) { format!("{n}!\n") } else { format!("{n}\n") };
        (1..=20).map(line).collect()
    };
    let near = "@@ -2,14 +2,14 @@\n 2\n 3\n 4\n-5\n+5!\n 6\n 7\n 8\n 9\n 10\n 11\n-12\n+12!\n 13\n 14\n 15\n";
    assert_eq!(unified_diff(&numbers(&[]), &numbers(&[5, 12])), near);
    let apart = unified_diff(&numbers(&[]), &numbers(&[5, 13])).decode().into_owned();
    let headers: Vec<_> = apart.lines().filter(|line| line.starts_with("@@")).collect();
    assert_eq!(headers, ["@@ -2,7 +2,7 @@", "@@ -10,7 +10,7 @@"]);
}

/// A search for the minimal difference would take hours.
#[test]
fn texts_without_a_line_in_common_are_quick() {
    let text = |sign: char| -> String { (0..100_000).map(|n| format!("{sign}{n}\n")).collect() };
    assert_eq!(unified_diff(&text('a'), &text('b')).decode().lines().count(), 200_001);
}

/// Lines with all characters that JSON escapes, few enough to be equal often.
fn text() -> impl Strategy<Value = String> {
    let pieces =
        ["a", "n", "é", " ", "\t", "\r", "\n", "\n", "\\", "\\n", "\"", "/", "\u{c}", "\u{1}"];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40)
        .prop_map(|pieces| pieces.concat())
}

fn spelling(literal: &str) -> EscapedText<'_> {
    EscapedText::of_raw(Raw::parse(literal).unwrap()).unwrap()
}

proptest! {
    #[test]
    fn what_is_escaped_changes_in_the_same_way(old in text(), new in text(), slashes in any::<bool>()) {
        let literal = |text: &str| match slashes {
            true => serde_json::to_string(text).unwrap().replace('/', "\\/"),
            false => serde_json::to_string(text).unwrap(),
        };
        let [old_literal, new_literal] = [literal(&old), literal(&new)];
        let plain = unified_diff(&old, &new);
        prop_assert_eq!(&unified_diff(spelling(&old_literal), spelling(&new_literal)), &plain);
        prop_assert_eq!(&unified_diff(spelling(&old_literal), &new), &plain);
    }
}

#[test]
fn a_list_that_says_more_than_was_read_stays() {
    let rest = |given: &str| {
        let mut given = Object::parse(given).unwrap();
        let todos = take_todos(&mut given).len();
        let (action, title) = take_questions(&mut given);
        let ActionType::Question { questions, .. } = action else { panic!() };
        (todos, questions.len(), title.to_string(), given.rest().len())
    };
    let titled = |title: &str, todos, questions, rest| (todos, questions, title.to_owned(), rest);
    assert_eq!(
        rest(r#"{"todos":[{"description":"x"}],"questions":[{"question":"q"}]}"#),
        titled("q", 1, 1, 0)
    );
    assert_eq!(
        rest(r#"{"todos":[{"content":"x"},7],"questions":[{"question":"q","options":[1]}]}"#),
        titled("q", 1, 1, 2)
    );
    assert_eq!(rest(r#"{"todos":7,"questions":"q"}"#), titled("", 0, 0, 2));
    assert_eq!(rest(r#"{"todos":"1. x\n2. y"}"#), titled("", 2, 0, 0));
    assert_eq!(rest(r#"{"questions":["q"]}"#), titled("q", 0, 1, 0));
}

#[test]
fn a_command_exits_with_a_code_or_by_a_signal() {
    let read = |output: &str| {
        let mut output = Object::parse(output).unwrap();
        (take_exit_status(&mut output), output.rest().len())
    };
    let code = |code| Some(CommandExitStatus::ExitCode { code });
    assert_eq!(read(r#"{"exitCode":0,"signal":""}"#), (code(0), 1));
    assert_eq!(read(r#"{"exit_code":2,"output":"x"}"#), (code(2), 1));
    let killed = Some(CommandExitStatus::Success { success: false });
    assert_eq!(read(r#"{"exitCode":null,"signal":"SIGKILL"}"#), (killed, 1));
    assert_eq!(read(r#"{"exitCode":"two","signal":null}"#), (None, 1));
}

#[test]
fn numbered_lists() {
    let given = r#"{"todos":"1. [completed] Read it\n 2. [in_progress] Do [it]\n\nbare"}"#;
    let todos = take_todos(&mut Object::parse(given).unwrap());
    let read: Vec<_> = todos.iter().map(|todo| (&todo.status, &todo.content)).collect();
    assert_eq!(
        read,
        [
            (&"completed".into(), &"Read it".into()),
            (&"in_progress".into(), &"Do [it]".into()),
            (&"pending".into(), &"bare".into())
        ]
    );
}
