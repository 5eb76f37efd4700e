//! Accessibility of the pages, as checked by axe.

use std::{fs, path::Path, process::Command};

use serde_json::json;

use crate::{
    client::{Server, answered, folder},
    driver::{Browser, Screen},
    packages::packages,
};

/// The serious and critical violations, with their elements.
const FOUND: &str = "return axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.filter(({ impact }) => ['serious', 'critical'].includes(impact)).map(({ id, nodes }) =>
        [id, ...nodes.slice(0, 5).map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary}`)]))";

/// The addresses of an exported list and an exported session.
fn exported(folder: &Path, logs: &Path) -> [String; 2] {
    let (database, site) = (folder.join("site.db"), folder.join("site"));
    let foldline = || Command::new(env!("CARGO_BIN_EXE_foldline"));
    let ingested = foldline().arg("ingest").arg(logs).arg("--db").arg(&database).output();
    assert!(ingested.unwrap().status.success());
    let mut export = foldline();
    export.args(["export", "--all", "--out"]).arg(&site).arg("--db").arg(&database);
    assert!(export.output().unwrap().status.success());
    let page = fs::read_dir(site.join("sessions")).unwrap().next().unwrap().unwrap().path();
    [site.join("index.html"), page].map(|file| format!("file://{}", file.display()))
}

#[test]
#[cfg_attr(not(has_registries), ignore = "needs npm and its registry (FOLDLINE_TEST_ALL=1)")]
fn it_finds_nothing_serious() {
    let packages = packages("tests/browser/npm");
    let axe = fs::read_to_string(packages.path().join("node_modules/axe-core/axe.min.js")).unwrap();
    let (folder, logs) = folder();
    for (number, name) in ["one", "two"].into_iter().enumerate() {
        fs::write(logs.join(name), answered(6, number as u64 + 6)).unwrap();
    }
    let server = Server::start(&logs, &[]);
    let pages = [
        "",
        "sessions/session",
        "sessions/session?explain=3",
        "sessions/session?moment=5",
        "sessions/session?view=changes",
        "sessions/none",
        "?q=nothing-like-this",
        "?q=look",
        "usage",
        "usage?by=session&model=a&since=2026-01-01",
        "?since=2026-01-01&model=a",
    ];
    let served = pages.map(|page| format!("{}{page}", server.link));
    let exported = exported(folder.path(), &logs);
    let mut all = Vec::new();
    for screen in [Screen::Desk, Screen::Phone] {
        let browser = Browser::start(screen);
        for page in served.iter().chain(&exported) {
            browser.open(page);
            browser.run(&axe);
            for theme in ["light", "dark"] {
                for what in [
                    "",
                    "document.querySelectorAll('details').forEach((it) => (it.open = true));",
                    "document.querySelector('#help')?.showPopover();",
                    "document.querySelector('#actions')?.showPopover();",
                    "document.querySelector('#others')?.showPopover();",
                ] {
                    browser.run_with(
                        &format!("document.documentElement.dataset.theme = arguments[0]; {what}"),
                        vec![json!(theme)],
                    );
                    let found = browser.run(FOUND);
                    if found != json!([]) {
                        all.push(format!("{page}, {theme}, {screen:?}, {what}: {found:#}"));
                    }
                }
                browser.run("document.querySelector('#actions')?.hidePopover()");
                browser.run("document.querySelector('#others')?.hidePopover()");
            }
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}
