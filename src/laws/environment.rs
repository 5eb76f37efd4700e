//! Law 18: the same in another process, with another environment.

use std::{
    cell::Cell,
    env,
    fmt::Debug,
    fs, process,
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use super::{Law, Outcome, Place, Violation};

/// The file to which a test writes what it folds, in another process.
const OUTPUT: &str = "FOLDLINE_LAWS_OUTPUT";

/// The number of the check within the test, which writes the file.
const CHECK: &str = "FOLDLINE_LAWS_CHECK";

/// Between the texts of two cases.
const SEPARATOR: &str = "\n\0\n";

thread_local! {
    /// The number of checks that this test has begun.
    static CHECKS: Cell<usize> = const { Cell::new(0) };
}

/// What a check has to do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Check every law, and ask another process.
    Here,
    /// In that process: it is before the check that is asked for, and the test has to get there.
    Before,
    /// In that process: write what is folded, and exit.
    Asked,
}

/// Counts a check.
pub(super) fn turn() -> Turn {
    let own = CHECKS.replace(CHECKS.get() + 1);
    match env::var(CHECK) {
        Err(_) => Turn::Here,
        Ok(asked) if asked == own.to_string() => Turn::Asked,
        Ok(_) => Turn::Before,
    }
}

/// Law 18, **environment**: `text`, of each of the cases, is the same in a child process, with another time zone, locale, home
/// and working folder, and another seed of hashes. The program runs the same test again, which is named as its thread.
///
/// ```
/// use foldline::laws::environment;
///
/// environment(&["a", "b"], |text: &&str| text.to_uppercase())?;
/// # Ok::<(), foldline::laws::Violation>(())
/// ```
///
/// # Errors
/// The smallest case whose text differs, or the output of a test that fails there.
pub fn environment<T: Debug>(
    cases: &[T],
    text: impl Fn(&T) -> String,
) -> Result<Outcome, Violation> {
    in_turn(turn(), cases, text)
}

pub(super) fn in_turn<T: Debug>(
    turn: Turn,
    cases: &[T],
    text: impl Fn(&T) -> String,
) -> Result<Outcome, Violation> {
    static FILES: AtomicUsize = AtomicUsize::new(0);
    if turn == Turn::Before {
        return Ok(Outcome::Checked);
    }
    let folder = env::temp_dir();
    if let Some(output) = env::var_os(OUTPUT) {
        // The inputs may be of a file that is named relatively, so the folder is changed only now.
        let is_moved = env::set_current_dir(folder);
        let texts: Vec<_> = cases.iter().map(&text).collect();
        let is_written = is_moved.and_then(|()| fs::write(output, texts.join(SEPARATOR)));
        process::exit(i32::from(is_written.is_err()));
    }
    let (thread, law) = (thread::current(), Law::Environment);
    let arguments: Vec<_> = match thread.name() {
        Some("main") => env::args_os().skip(1).collect(),
        Some(test) => [test, "--exact", "--include-ignored"].map(Into::into).to_vec(),
        None => return Ok(Outcome::Skipped("the thread has no name, which is that of the test")),
    };
    let Ok(program) = env::current_exe() else {
        return Ok(Outcome::Skipped("the program has no path"));
    };
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let file = folder.join(format!("foldline-laws-{}-{number}", process::id()));
    let mut child = Command::new(program);
    child.args(arguments).env(OUTPUT, &file).env(CHECK, (CHECKS.get() - 1).to_string());
    child.env("TZ", "Pacific/Kiritimati").env("LC_ALL", "tr_TR.UTF-8").env("LANG", "tr_TR.UTF-8");
    child.env("HOME", &folder).env("USER", "other").stdin(Stdio::null());
    let ended = child.output();
    let there = fs::read_to_string(&file);
    let _ = fs::remove_file(&file);
    let failed =
        |what: &str| Violation::new(law, Place::Start, format!("in another process, {what}"));
    let there = match (ended, there) {
        (Ok(ended), Ok(there)) if ended.status.success() => there,
        (Ok(ended), _) if ended.status.success() => {
            return Ok(Outcome::Skipped("the thread has not the name of the test"));
        }
        (Ok(ended), _) => {
            let output = [ended.stdout, ended.stderr].concat();
            return Err(failed("the test fails").text("output", String::from_utf8_lossy(&output)));
        }
        (Err(error), _) => return Err(failed(&format!("the test cannot be run: {error}"))),
    };
    let pairs = cases
        .iter()
        .zip(there.split(SEPARATOR))
        .map(|(inputs, there)| (inputs, text(inputs), there));
    let differ = pairs.filter(|(_, here, there)| here != there);
    match differ.min_by_key(|(inputs, ..)| format!("{inputs:?}").len()) {
        None => Ok(Outcome::Checked),
        Some((inputs, here, there)) => {
            let violation = failed("with another environment, the result differs");
            Err(violation.text("here", here).text("there", there).shown("inputs", inputs))
        }
    }
}
