//! Says which tests were ignored since their tool is missing. It runs after the others.

use std::{collections::BTreeMap, fs, path::Path};

/// The tools that the build script searched for, and whether they exist.
const TOOLS: [(&str, bool, &str); 9] = [
    ("chromedriver", cfg!(has_chromedriver), "chromedriver"),
    ("chromium", cfg!(has_chromium), "chromium"),
    ("openssl", cfg!(has_openssl), "openssl"),
    ("postgres", cfg!(has_postgres), "postgres"),
    ("promtool", cfg!(has_promtool), "promtool"),
    ("python3", cfg!(has_python3), "python3"),
    ("registries", cfg!(has_registries), "npm"),
    ("script", cfg!(has_script), "script"),
    ("strace", cfg!(has_strace), "strace"),
];

fn main() {
    let mut counts = BTreeMap::new();
    count(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), &mut counts);
    let skipped: usize = counts.values().sum();
    let by_tool: Vec<_> = counts.iter().map(|(tool, count)| format!("{tool} {count}")).collect();
    match skipped {
        0 => println!("\nno test was skipped\n"),
        _ => println!(
            "\n{skipped} tests were skipped, as their tools are missing: {}. With FOLDLINE_TEST_ALL=1 they fail \
             instead; CONTRIBUTING.md has the tools\n",
            by_tool.join(", ")
        ),
    }
}

/// Counts the tests that are ignored in this folder, by tool.
fn count(folder: &Path, counts: &mut BTreeMap<&'static str, usize>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            count(&path, counts);
        } else if let Ok(text) = fs::read_to_string(&path) {
            for (name, _, shown) in TOOLS.iter().filter(|(_, is_here, _)| !is_here) {
                let ignored = text.matches(&format!("#[cfg_attr(not(has_{name}), ignore")).count();
                if ignored > 0 {
                    *counts.entry(shown).or_default() += ignored;
                }
            }
        }
    }
}
