//! The lines of an output that say why a call failed.

/// Words of a line that says why something failed, in lower case.
const TELLING: [&str; 25] = [
    "error",
    "errors",
    "fail",
    "failed",
    "failure",
    "fails",
    "fatal",
    "panic",
    "panicked",
    "panics",
    "assert",
    "assertion",
    "exception",
    "traceback",
    "denied",
    "refused",
    "cannot",
    "invalid",
    "undefined",
    "unexpected",
    "expected",
    "missing",
    "timeout",
    "killed",
    "aborted",
];

/// Levels of messages that a program also logs when it succeeds.
const LEVELS: [&str; 6] = ["info", "debug", "trace", "warn", "warning", "notice"];

/// At most `most` lines of an output, in their order, and the number of all lines that are not empty. Lines that say
/// why it failed are chosen first, those without a level of a log before the others; then the last lines, where a
/// summary is.
pub(super) fn reason(output: &str, most: usize) -> (Vec<&str>, usize) {
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let mut ranked: Vec<_> = lines.iter().map(|line| rank(line)).enumerate().collect();
    // Of the lines that say nothing, the last ones are better.
    ranked.sort_by_key(|(at, rank)| (*rank, if *rank == 2 { usize::MAX - at } else { *at }));
    let mut chosen: Vec<_> = ranked.into_iter().take(most).map(|(at, _)| at).collect();
    chosen.sort_unstable();
    (chosen.into_iter().filter_map(|at| lines.get(at).copied()).collect(), lines.len())
}

/// 0 for a line that says why, 1 for one of a log that does, 2 for any other.
fn rank(line: &str) -> u8 {
    let line = line.to_lowercase();
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let has = |is: fn(&str) -> bool| line.split(|c| !is_part(c)).any(is);
    let is_telling = |word: &str| TELLING.contains(&word) || word.ends_with("error");
    match (has(is_telling), has(|word| LEVELS.contains(&word))) {
        (true, false) => 0,
        (true, true) => 1,
        (false, _) => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn the_lines_that_say_why_come_first() {
        let output = "INFO done failed_branches=0\nWARN failed to delete\nrunning\n\n--- FAIL: TestHook (0.03s)\n\
                      hook.go:87: TypeError: x\none\ntwo\nthree\n";
        let (lines, all) = reason(output, 2);
        assert_eq!(
            (lines, all),
            (vec!["--- FAIL: TestHook (0.03s)", "hook.go:87: TypeError: x"], 8)
        );
        let (lines, _) = reason(output, 4);
        assert_eq!((lines[0], lines[3]), ("WARN failed to delete", "three"));
        assert_eq!(reason("a\nb\nc", 2), (vec!["b", "c"], 3));
        assert_eq!(reason("", 2), (vec![], 0));
    }
}
