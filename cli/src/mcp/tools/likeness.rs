//! Whether two commands are the same, although an agent wrote them differently.

use std::iter;

/// How alike two commands are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    /// The same program with the same arguments.
    Same,
    /// The same program and subcommand.
    Similar,
}

/// How alike two commands, or other titles of calls, are; `None` if they are not.
///
/// Folders that were entered before, variables, redirections, and filters behind a pipe are no part of a command.
pub(super) fn likeness(one: &str, other: &str) -> Option<Likeness> {
    if one == other {
        return Some(Likeness::Same);
    }
    let (one, other) = (steps(one), steps(other));
    if one.is_empty() || other.is_empty() {
        return None;
    }
    if one == other {
        return Some(Likeness::Same);
    }
    // What a command line is about comes last, behind the steps that prepare it.
    (one.last().map(|step| kind(step)) == other.last().map(|step| kind(step)))
        .then_some(Likeness::Similar)
}

/// The words of each step of a command line.
fn steps(command: &str) -> Vec<Vec<&str>> {
    let steps = command.split(['\n', ';']).flat_map(|line| line.split("&&"));
    let steps = steps.flat_map(|step| step.split("||").take(1));
    let words = steps.map(|step| words(step.split('|').next().unwrap_or_default()));
    words.filter(|words| words.first().is_some_and(|first| !is_preparation(first))).collect()
}

/// The words of a step without variables before the program, wrappers, and redirections.
fn words(step: &str) -> Vec<&str> {
    let mut words = step.split_whitespace().peekable();
    while words.next_if(|word| is_variable(word)).is_some() {}
    if words.next_if(|word| matches!(*word, "timeout" | "nice")).is_some() {
        while words
            .next_if(|word| {
                word.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
            })
            .is_some()
        {}
    }
    let mut is_target = false;
    let kept = words.filter(|word| {
        let is_redirection = word.trim_start_matches(['1', '2', '&']).starts_with(['>', '<']);
        // The file of `> file` is the next word.
        let is_left_out = is_redirection || is_target;
        is_target = is_redirection && word.ends_with(['>', '<']);
        !is_left_out
    });
    kept.collect()
}

fn is_preparation(program: &str) -> bool {
    matches!(program, "cd" | "export" | "source" | "." | "set" | "pushd" | "popd" | "echo" | "#")
}

fn is_variable(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    })
}

/// The program and its subcommand: the first word that is neither an option nor a path.
fn kind<'c>(step: &[&'c str]) -> Vec<&'c str> {
    let mut words = step.iter().copied();
    let program = words.next().into_iter();
    let subcommand = words.find(|word| !word.starts_with('-')).filter(|word| {
        word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'))
    });
    program.chain(subcommand.into_iter().flat_map(iter::once)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_command_is_written_in_many_ways() {
        let same = [
            ("cargo test", "cd /code/app && cargo test 2>&1 | tail -20"),
            ("RUST_LOG=debug cargo test --all", "timeout 60 cargo  test --all > log.txt"),
            ("npm test\n", "npm test || true"),
            ("src/lib.rs", "src/lib.rs"),
        ];
        for (one, other) in same {
            assert_eq!(likeness(one, other), Some(Likeness::Same), "{one:?} {other:?}");
        }
        let similar = [
            ("cargo test greeting", "cargo test"),
            ("cargo build; cargo test -p a", "cargo test -p b -- --nocapture"),
            ("python3 -m pytest -q tests/a.py", "python3 -m pytest -x tests/b.py"),
        ];
        for (one, other) in similar {
            assert_eq!(likeness(one, other), Some(Likeness::Similar), "{one:?} {other:?}");
        }
        let different = [
            ("cargo test", "cargo build"),
            ("ls", "cat a"),
            ("", "ls"),
            ("cd a", "cd b"),
            ("src/a.rs", "src/b.rs"),
            ("git commit -m 'cargo test'", "cargo test"),
        ];
        for (one, other) in different {
            assert_eq!(likeness(one, other), None, "{one:?} {other:?}");
        }
    }
}
