//! The lines of an output that say why a call failed.

/// Words of a line that says why something failed, in lower case.
const TELLING: [&str; 16] = [
    "error",
    "fail",
    "panic",
    "assert",
    "exception",
    "denied",
    "refused",
    "not found",
    "no such",
    "cannot",
    "invalid",
    "undefined",
    "unexpected",
    "expected",
    "timed out",
    "traceback",
];

/// At most `most` lines of an output, in their order, and the number of all lines that are not empty: lines that say
/// why it failed, or else the last ones.
pub(super) fn reason(output: &str, most: usize) -> (Vec<&str>, usize) {
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let is_telling = |line: &str| {
        let line = line.to_lowercase();
        TELLING.iter().any(|word| line.contains(word))
    };
    let mut chosen: Vec<usize> =
        (0..lines.len()).filter(|at| lines.get(*at).is_some_and(|line| is_telling(line))).collect();
    chosen.truncate(most);
    // A summary is at the end.
    let rest = (0..lines.len()).rev().filter(|at| !chosen.contains(at));
    let rest: Vec<usize> = rest.take(most - chosen.len()).collect();
    chosen.extend(rest);
    chosen.sort_unstable();
    (chosen.into_iter().filter_map(|at| lines.get(at).copied()).collect(), lines.len())
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn the_lines_that_say_why_come_first() {
        let output =
            "compiling\nrunning\n\ntest greeting ... FAILED\nassertion failed\none\ntwo\nthree\n";
        let (lines, all) = reason(output, 3);
        assert_eq!(
            (lines, all),
            (vec!["test greeting ... FAILED", "assertion failed", "three"], 7)
        );
        assert_eq!(reason("a\nb\nc", 2), (vec!["b", "c"], 3));
        assert_eq!(reason("", 2), (vec![], 0));
    }
}
