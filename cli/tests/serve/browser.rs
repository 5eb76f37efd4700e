//! In a browser, nothing of a hostile log runs, neither in the list nor in a session.

use std::{fs, path::Path, process::Command};

use super::{
    client::{Server, folder},
    logs::droid,
};

const HOSTILE: &str = "<img src=x onerror=document.title='marked'><script>document.title='marked'</script>\
                       </title></script><svg onload=document.title='marked'>\
                       [x](javascript:document.title='marked') \\\" onfocus=document.title='marked' autofocus x=\\\"";

/// The contents of a page after it was loaded.
fn loaded(folder: &Path, address: &str) -> String {
    let output = Command::new("chromium")
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
#[cfg_attr(not(has_chromium), ignore = "needs chromium")]
fn nothing_of_a_log_runs() {
    let (folder, logs) = folder();
    let log = droid("session", 4, 1);
    let log = ["Please look", "Thinking", "output of", "Done with", "/repo", "model-a"]
        .into_iter()
        .fold(log, |log, place| log.replace(place, &format!("{HOSTILE} {place}")));
    fs::write(logs.join("log.jsonl"), log).unwrap();
    let server = Server::start(&logs, &[]);
    for path in
        ["/", "/sessions/session", "/?q=%3Cscript%3Edocument.title=%27marked%27%3C/script%3E"]
    {
        let dom = loaded(folder.path(), &format!("http://{}{path}", server.address));
        assert!(dom.contains("Foldline"), "{path}: {dom}");
        assert!(!dom.contains("<title>marked"), "{path}");
        assert!(!dom.contains("<img") && !dom.contains("<script>"), "{path}");
        // The script of the page itself did run.
        assert!(dom.contains("data-script=\"on\""), "{path}");
    }
}
