//! Phrases that the project's prose avoids, in Markdown, comments and string literals.
//!
//! Only clear-cut phrases are listed: each has a usual technical term, or a shorter form.

use std::{fs, iter, path::Path};

/// A phrase of whole words in lower case, and its replacement.
type Banned = (&'static str, &'static str);

const BANNED: [Banned; 19] = [
    ("anew", "`again`, or the usual verb: rebuild, restart, rewrite, regenerate"),
    ("nobody", "`unknown`, `unsupported`, `no client`, or the passive"),
    ("somebody", "`the user`, `another program`, or the passive"),
    ("whoever", "a noun: `the reader`, `the caller`, `any client`"),
    ("told apart", "`distinguished`"),
    ("tell apart", "`distinguish`"),
    ("tells apart", "`distinguishes`"),
    ("told otherwise", "`by default`"),
    ("what is told", "a noun: `the report`, `the message`"),
    ("go on with", "`continue`, `resume` or `append`"),
    ("goes on with", "`continues`, `resumes` or `appends`"),
    ("going on with", "`continuing`, `resuming` or `appending`"),
    ("gone on with", "`continued`, `resumed` or `appended`"),
    ("as far as", "`if`, `where` or `up to`"),
    ("of people", "`of users`, `human-readable`, or `home directories`"),
    ("stands where", "`is where`; for a mismatch, `found .., expected ..`"),
    ("comes of", "`results from`"),
    ("came of", "`resulted from`"),
    ("is meant by", "`matches`"),
];

/// Files and folders that are not rewritten yet. Remove an entry when its prose is done.
const NOT_DONE: [&str; 5] = [
    // Tests that quote texts of fixtures and snapshots.
    "agents/tests/claude/stream.rs",
    "agents/tests/cursor.rs",
    "agents/tests/droid/pairing.rs",
    "agents/tests/droid_jsonrpc.rs",
    "render/tests/transcript.rs",
];

/// Names of files and folders that are not prose of the project.
const SKIPPED: [&str; 7] =
    ["target", ".git", "node_modules", "fixtures", "snapshots", "corpus", "captures"];

/// This file, which lists the phrases.
const SELF: &str = "tests/structure/words.rs";

/// A word with its line, or a separator between two sentences or texts.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(usize, String),
    Separator,
}

/// Splits a text that begins on a line into words. Punctuation and blank lines are separators.
fn add_words(tokens: &mut Vec<Token>, line: usize, text: &str) {
    for (number, row) in (line..).zip(text.split('\n')) {
        let row = row.trim_start_matches([' ', '\t', '/', '!', '*', '>']);
        if row.trim().is_empty() {
            tokens.push(Token::Separator);
        }
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '_' | '-');
        let mut word = String::new();
        for c in row.chars().chain(iter::once(' ')) {
            if is_part(c) {
                word.extend(c.to_lowercase());
                continue;
            }
            if !word.is_empty() {
                tokens.push(Token::Word(number, std::mem::take(&mut word)));
            }
            if !c.is_whitespace() {
                tokens.push(Token::Separator);
            }
        }
    }
}

/// Adds the words of a string literal. A literal without white space is data, not prose.
fn add_literal(tokens: &mut Vec<Token>, line: usize, text: &str) {
    tokens.push(Token::Separator);
    if text.contains(char::is_whitespace) {
        add_words(tokens, line, text);
    }
    tokens.push(Token::Separator);
}

/// The words of the comments and string literals of a Rust source. Consecutive line comments are
/// one text.
fn rust(source: &str) -> Vec<Token> {
    let (mut tokens, mut rest, mut line) = (Vec::new(), source, 1);
    while let Some(c) = rest.chars().next() {
        let taken = match c {
            '/' if rest.starts_with("//") => {
                let end = rest.find('\n').unwrap_or(rest.len());
                add_words(&mut tokens, line, &rest[..end]);
                end
            }
            '/' if rest.starts_with("/*") => {
                let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
                tokens.push(Token::Separator);
                add_words(&mut tokens, line, &rest[..end]);
                tokens.push(Token::Separator);
                end
            }
            '"' => {
                let end = end_of_string(rest);
                add_literal(&mut tokens, line, &rest[1..end].replace("\\\n", "\n"));
                end
            }
            'r' | 'b' | 'c' => raw_string(rest).map_or(1, |(start, end)| {
                add_literal(&mut tokens, line, &rest[start..end]);
                end
            }),
            '\'' => end_of_char(rest),
            // Code between two comments separates them.
            c => {
                if !c.is_whitespace() && tokens.last() != Some(&Token::Separator) {
                    tokens.push(Token::Separator);
                }
                c.len_utf8()
            }
        };
        line += rest[..taken].matches('\n').count();
        rest = &rest[taken..];
    }
    tokens
}

/// The offset after the string literal at the beginning of `rest`.
fn end_of_string(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The body and the end of the raw string literal at the beginning of `rest`.
fn raw_string(rest: &str) -> Option<(usize, usize)> {
    let prefix = if rest.starts_with("br") || rest.starts_with("cr") { 2 } else { 1 };
    let hashes = rest[prefix..].len() - rest[prefix..].trim_start_matches('#').len();
    let is_raw = rest[..prefix].ends_with('r') && rest[prefix + hashes..].starts_with('"');
    let start = prefix + hashes + 1;
    let end = format!("\"{}", "#".repeat(hashes));
    is_raw
        .then(|| (start, rest[start..].find(&end).map_or(rest.len(), |at| start + at + end.len())))
}

/// The length of the character literal at the beginning of `rest`, or of the quote of a lifetime.
fn end_of_char(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((at, c))) => {
            let after = at + c.len_utf8();
            rest[after..].find('\'').map_or(1, |end| after + end + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// The words of a Markdown text; in a changelog without quotations.
fn markdown(text: &str, is_changelog: bool) -> Vec<Token> {
    let mut tokens = Vec::new();
    match is_changelog {
        false => add_words(&mut tokens, 1, text),
        true => {
            let rows =
                text.lines().map(|row| row.split('"').step_by(2).collect::<Vec<_>>().join(":"));
            add_words(&mut tokens, 1, &rows.collect::<Vec<_>>().join("\n"));
        }
    }
    tokens
}

/// The banned phrases in a file, one message each.
fn faults(name: &str, text: &str) -> Vec<String> {
    let tokens = match name.ends_with(".rs") {
        true => rust(text),
        false => markdown(text, name.ends_with("CHANGELOG.md")),
    };
    let mut faults = Vec::new();
    for (phrase, instead) in BANNED {
        let words: Vec<_> = phrase.split(' ').collect();
        for window in tokens.windows(words.len()) {
            let is_phrase = window.iter().zip(&words).all(|(token, word)| match token {
                Token::Word(_, found) => found == word,
                Token::Separator => false,
            });
            if let (true, Some(Token::Word(line, _))) = (is_phrase, window.first()) {
                faults.push(format!("{name}:{line}: \"{phrase}\"; write {instead}"));
            }
        }
    }
    faults
}

fn is_done(name: &str) -> bool {
    let is_in = |folder: &&str| {
        name.strip_prefix(*folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    !NOT_DONE.iter().any(is_in)
}

/// The names of the Markdown and Rust files in a folder.
fn files(root: &Path, folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if SKIPPED.iter().any(|skipped| *skipped == name) {
            continue;
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            files(root, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "md" || extension == "rs") {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            found.push(name.replace('\\', "/"));
        }
    }
}

#[test]
fn prose_uses_the_usual_terms() {
    let root = super::root();
    let mut names = Vec::new();
    files(root, root, &mut names);
    names.retain(|name| is_done(name) && name != SELF);
    names.sort();
    assert!(names.iter().any(|name| name == "src/lib.rs"), "{names:?}");
    let faults =
        names.iter().flat_map(|name| faults(name, &fs::read_to_string(root.join(name)).unwrap()));
    let faults: Vec<_> = faults.collect();
    assert!(faults.is_empty(), "{} phrases:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn planted_phrases_are_found() {
    let source = "/// Files are told\n/// apart by name.\nfn f(c: char) -> &'static str {\n    \
                  // It is made Anew.\n    let _ = (c == '\"', '\\'', r#\"Nobody \"knows\"\"#);\n    \
                  \"what goes on \\\n     with it\"\n}\n";
    let found = faults("src/a.rs", source);
    let expected = [
        "src/a.rs:4: \"anew\"",
        "src/a.rs:5: \"nobody\"",
        "src/a.rs:1: \"told apart\"",
        "src/a.rs:6: \"goes on with\"",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}, not {expected}");
    }
    let text = "Where it\ngoes on\nwith \"nobody\".\n";
    assert_eq!(faults("A.md", text).len(), 2);
    assert_eq!(faults("CHANGELOG.md", text).len(), 1);
}

#[test]
fn other_words_are_not_found() {
    let source = "// It was told. Apart from that, nobody_knows is a name.\nfn whoever() {}\n\n\
                  // As far\nfn as_far_as() {}\n// as that goes: it goes on, with care.\n\
                  const USER: &str = \"nobody\";\n";
    assert_eq!(faults("src/a.rs", source), [""; 0]);
    assert!(is_done("src/wired.rs") && is_done("tests/README.md") && is_done("DESIGN.md"));
    assert!(is_done("cli/src/main.rs") && is_done("README.md"));
    assert!(!is_done("agents/tests/cursor.rs") && !is_done("render/tests/transcript.rs"));
}
