//! In a browser, nothing of a hostile log runs, neither in the list nor in a session.

use std::{fs, path::Path, process::Command};

use super::{
    client::{Server, folder},
    logs::droid,
};

const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

const HOSTILE: &str = "<img src=x onerror=document.title='marked'><script>document.title='marked'</script>\
                       </title></script><svg onload=document.title='marked'>\
                       [x](javascript:document.title='marked') \\\" onfocus=document.title='marked' autofocus x=\\\"";

/// What a page is after it was loaded.
fn loaded(browser: &str, folder: &Path, address: &str) -> String {
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--disable-extensions", "--timeout=10000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(address)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn nothing_of_a_log_runs() {
    let works = |browser: &&str| Command::new(browser).arg("--version").output().is_ok();
    let Some(browser) = BROWSERS.into_iter().find(works) else {
        println!("skipped: there is no Chromium here");
        return;
    };
    let (folder, logs) = folder();
    let log = droid("session", 4, 1);
    let log = ["Please look", "Thinking", "output of", "Done with", "/repo", "model-a"]
        .into_iter()
        .fold(log, |log, place| log.replace(place, &format!("{HOSTILE} {place}")));
    fs::write(logs.join("log.jsonl"), log).unwrap();
    let server = Server::start(&logs, &[]);
    for path in ["/", "/sessions/1", "/?q=%3Cscript%3Edocument.title=%27marked%27%3C/script%3E"] {
        let dom = loaded(browser, folder.path(), &format!("http://{}{path}", server.address));
        assert!(dom.contains("Foldline"), "{path}: {dom}");
        assert!(!dom.contains("<title>marked"), "{path}");
        assert!(!dom.contains("<img") && !dom.contains("<script>"), "{path}");
        // The script of the page itself did run.
        assert!(dom.contains("data-script=\"on\""), "{path}");
    }
}
