//! (b) In a browser, without the page's policy, nothing of a hostile page runs.

use std::{fs, path::Path, process::Command};

use crate::hostile_page::{page_of, vectors};

/// The title that a vector sets if it runs.
const MARKED: &str = "<title>marked</title>";

/// Opens and touches everything, so that handlers run if there are any, and follows no link.
const TOUCH: &str = "<script>
    document.addEventListener('click', event => event.preventDefault(), true);
    for (const element of document.querySelectorAll('body *')) {
        if (element.localName == 'details') element.open = true;
        for (const kind of ['mouseover', 'pointerdown', 'click', 'focus', 'error', 'load', 'toggle'])
            element.dispatchEvent(new Event(kind, { cancelable: true }));
    }
    if (window.marked) document.title = 'marked';
    document.body.dataset.touched = 'yes';
</script>";

/// The contents of a page some time after it was loaded.
fn loaded(folder: &Path, html: &str) -> String {
    let page = folder.join("page.html");
    fs::write(&page, html).unwrap();
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args([
            "--no-first-run",
            "--disable-extensions",
            "--virtual-time-budget=5000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn without_policy(html: &str) -> String {
    let (before, rest) = html.split_once("<meta http-equiv=\"Content-Security-Policy\"").unwrap();
    let (_, after) = rest.split_once('>').unwrap();
    format!("{before}{after}").replace("</body>", &format!("{TOUCH}</body>"))
}

#[test]
#[cfg_attr(not(has_chromium), ignore = "needs chromium")]
fn nothing_runs() {
    assert!(vectors().len() >= 300);
    let folder = tempfile::tempdir().unwrap();
    // The browser runs scripts.
    for vector in ["<img src=x onerror=document.title='marked'>", "<p onclick=window.marked=1>"] {
        let html = format!("<title>x</title><meta charset=utf-8><body>{vector}{TOUCH}</body>");
        assert!(loaded(folder.path(), &html).contains(MARKED), "{vector}");
    }
    for some in vectors().chunks(210) {
        let (page, _) = page_of(some);
        let dom = loaded(folder.path(), &without_policy(&page.render()));
        assert!(dom.contains("data-touched=\"yes\""), "the page was not read to its end");
        assert!(!dom.contains(MARKED));
        assert!(dom.contains(" · Foldline</title>"));
    }
}
