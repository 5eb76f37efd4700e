//! Sessions that are parts of others.

use foldline_database::{
    query::*,
    sqlite::{DEFAULT_WAIT, Database},
};
use foldline_domain::{DomainEvent, NormalizedEntry};

/// The children come before their parents. `a` calls `b` by the call `c1`, which `b` names; `b` calls `c`, which the call
/// `c2` names; `f` is a fork of `a`, `p` a later part of it, and `o` of a session in no log. `x` and `y` are parts of one
/// another.
fn database(folder: &tempfile::TempDir) -> Database {
    let database = Database::open(&folder.path().join("db"), DEFAULT_WAIT).unwrap();
    database
        .connection()
        .execute_batch(
            "INSERT INTO sources (id, name, path, format, size, read_length, read_edges, line, offset, state, crc32,
                                  modified_at)
             VALUES (1, '/a', '/a', 'droid', 0, 0, x'', 3, 7, '{}', 0, 5000);
             INSERT INTO sessions (id, source, number, session_id, agent, title, parent_session_id, parent_relation,
                                   parent_call, first_at, last_at, entries, crc32)
             VALUES (1, 1, 0, 'c', 'x', 'leaf', 'b', 'sub_agent', NULL, 3000, 9000, 1, 0),
                    (2, 1, 1, 'b', 'x', 'child', 'a', 'sub_agent', 'c1', 2000, 4000, 1, 0),
                    (3, 1, 2, 'a', 'x', 'later', 'a', 'continuation', NULL, 5000, 6000, 1, 0),
                    (4, 1, 3, 'a', 'x', 'root', NULL, NULL, NULL, 1000, 4500, 2, 0),
                    (5, 1, 4, 'f', 'x', 'fork', 'a', 'fork', NULL, 7000, 7500, 1, 0),
                    (6, 1, 5, 'o', 'x', 'orphan', 'lost', 'sub_agent', NULL, 10, 20, 1, 0),
                    (7, 1, 6, 'x', 'x', 'x', 'y', 'sub_agent', NULL, 11, 12, 1, 0),
                    (8, 1, 7, 'y', 'x', 'y', 'x', 'sub_agent', NULL, 13, 14, 1, 0);
             INSERT INTO entries (id, session, idx, type, line, offset, content, crc32)
             VALUES (1, 1, 0, 'tool_use', 1, 0, 'ls', 0), (2, 2, 0, 'tool_use', 1, 0, 'go deeper', 0),
                    (3, 3, 0, 'user_message', 1, 0, 'more', 0), (4, 4, 0, 'tool_use', 1, 0, 'go', 0),
                    (5, 4, 1, 'assistant_message', 1, 0, 'done', 0), (6, 5, 0, 'user_message', 1, 0, 'else', 0);
             INSERT INTO tool_calls (entry, session, corr_id, kind, action_name, tool_name, status, child_session_id,
                                     action, crc32)
             VALUES (1, 1, 'c3', 'execute', 'command_run', 'shell', 'failed', NULL, '{}', 0),
                    (2, 2, 'c2', 'other', 'task_create', 'Task', 'success', 'c', '{}', 0),
                    (4, 4, 'c1', 'other', 'task_create', 'Task', 'success', NULL, '{}', 0);
             INSERT INTO message_usage VALUES (1, 'm1', 'gpt-5', 0, 10, 5, NULL, NULL, NULL, NULL, NULL, 0.5, 0),
                                              (4, 'm4', 'gpt-5', 0, 20, 6, NULL, NULL, NULL, NULL, NULL, 0.25, 0);",
        )
        .unwrap();
    database
}

#[test]
fn a_row_has_the_totals_of_its_tree() {
    let folder = tempfile::tempdir().unwrap();
    let database = database(&folder);
    let trees = SessionFilter { grouping: Grouping::Trees, ..SessionFilter::default() };
    let titles = |filter: &SessionFilter, order| -> Vec<String> {
        let found = database.sessions(filter, order).unwrap();
        found.into_iter().filter_map(|session| session.title).collect()
    };
    // A tree is as late as its latest part.
    assert_eq!(titles(&trees, SessionOrder::Latest), ["root", "fork", "orphan", "y", "x"]);
    assert_eq!(database.session_count(&trees).unwrap(), 5);
    let first = database.sessions(&trees, SessionOrder::Cost).unwrap().swap_remove(0);
    assert_eq!((first.number, first.agents, first.calls, first.failures), (4, 2, 3, 1));
    assert_eq!((first.tokens, first.cost_usd), (Some(41), Some(0.75)));
    // What one of the parts has chooses the whole.
    let of_leaf = SessionFilter { text: Some("leaf".to_owned()), ..trees.clone() };
    assert_eq!(titles(&of_leaf, SessionOrder::Latest), ["root"]);
    let alone = SessionFilter::default();
    assert_eq!(database.sessions(&alone, SessionOrder::Number).unwrap().len(), 8);
    assert_eq!(database.session_row(4).unwrap().unwrap().calls, 3);
    let child = database.session_row(2).unwrap().unwrap();
    assert_eq!((child.calls, child.whole, child.call), (1, Some(4), Some(0)));
    let tree = database.tree_of(1).unwrap();
    let found: Vec<_> = tree.iter().map(|part| (part.number, part.whole, part.call)).collect();
    assert_eq!(
        found,
        [(4, None, None), (2, Some(4), Some(0)), (1, Some(2), Some(0)), (3, Some(4), None)]
    );
    // Every answer about a session is about its parts as well.
    let name = Some(SessionName::from(4));
    let of_root = SessionFilter { name, ..trees };
    assert_eq!(database.failures(&of_root).unwrap().len(), 1);
    let used = database.usage(&of_root).unwrap();
    let chosen = used.iter().filter(|session| session.is_chosen && !session.messages.is_empty());
    let roots: Vec<_> = chosen.map(|session| session.root_session_id.as_ref().unwrap()).collect();
    assert_eq!(roots.iter().map(|id| id.as_str()).collect::<Vec<_>>(), ["a", "a"]);
}

#[test]
fn what_a_part_did_is_nested_in_its_call() {
    let folder = tempfile::tempdir().unwrap();
    let database = database(&folder);
    let (mut told, mut tokens) = (Vec::new(), 0);
    database
        .nested_events(4, |event| {
            let (what, entry) = match event {
                DomainEvent::NewToolCall { entry, .. } => ("call", entry),
                DomainEvent::UpdateToolCall { entry, .. } => ("end", entry),
                DomainEvent::NewEntry { entry } => ("entry", entry),
                DomainEvent::Usage { usage, .. } => {
                    tokens += usage.input_tokens.unwrap_or(0);
                    return;
                }
                _ => return,
            };
            let parent = |entry: &NormalizedEntry| {
                Some(entry.metadata.as_ref()?.parent_corr_id.as_ref()?.as_str().to_owned())
            };
            told.push((what, entry.content.decode().into_owned(), parent(&entry)));
        })
        .unwrap();
    assert_eq!(tokens, 30);
    let told: Vec<_> =
        told.iter().map(|(what, said, parent)| (*what, said.as_str(), parent.as_deref())).collect();
    assert_eq!(
        told,
        [
            ("call", "go", None),
            ("call", "go deeper", Some("c1")),
            ("call", "ls", Some("c2")),
            ("end", "ls", Some("c2")),
            ("end", "go deeper", Some("c1")),
            ("end", "go", None),
            ("entry", "done", None),
            // The log goes on in another one.
            ("entry", "more", Some("a")),
        ]
    );
}
