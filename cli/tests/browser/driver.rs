//! A browser under test.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use fantoccini::{
    Client, ClientBuilder, Locator,
    actions::{InputSource, KeyAction, KeyActions},
    wd::{Capabilities, WindowHandle},
};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// How long a test waits for what has to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// The Escape key, as the protocol writes it.
pub(crate) const ESCAPE: char = '\u{E00C}';
/// The Enter key.
pub(crate) const ENTER: char = '\u{E007}';
/// The Backspace key.
pub(crate) const BACKSPACE: char = '\u{E003}';

/// One browser at a time: the machine may be small.
static TURN: Mutex<()> = Mutex::new(());

/// The page under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Screen {
    Desk,
    /// 390 pixels wide.
    Phone,
}

/// A browser with a separate profile; it is closed when the value is dropped.
pub(crate) struct Browser {
    runtime: Runtime,
    client: Client,
    driver: Child,
    _profile: TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Browser {
    /// Starts a browser.
    pub(crate) fn start(screen: Screen) -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut command = Command::new("chromedriver");
        let driver = command.arg("--port=0").stdout(Stdio::piped()).spawn();
        let mut driver = driver.expect("chromedriver runs");
        let mut said = BufReader::new(driver.stdout.take().unwrap()).lines().map(Result::unwrap);
        let port = said.find_map(|line| {
            line.split_once("successfully on port ")
                .map(|(_, port)| port.trim_end_matches('.').to_owned())
        });
        let port = port.expect("chromedriver says its port");
        std::thread::spawn(move || said.for_each(drop));
        let profile = TempDir::new().unwrap();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let connected = runtime.block_on(
            ClientBuilder::new(HttpConnector::new())
                .capabilities(capabilities(screen, &profile))
                .connect(&format!("http://127.0.0.1:{port}")),
        );
        let client = match connected {
            Ok(client) => client,
            Err(error) => {
                let _ = driver.kill();
                panic!("the browser does not start: {error}");
            }
        };
        Self { runtime, client, driver, _profile: profile, _turn: turn }
    }

    /// Opens a page, and records its reports from then on.
    pub(crate) fn open(&self, address: &str) {
        self.runtime.block_on(self.client.goto(address)).unwrap();
        self.keep_reports();
    }

    /// Exports a log next to itself, and opens the page.
    pub(crate) fn open_export(&self, log: &Path) {
        let page = log.with_extension("html");
        let mut export = Command::new(env!("CARGO_BIN_EXE_foldline"));
        let exported = export.arg("export").arg(log).output().unwrap();
        assert!(exported.status.success());
        fs::write(&page, exported.stdout).unwrap();
        self.open(&format!("file://{}", page.display()));
    }

    /// Opens an address in a new tab, which becomes the page under test.
    pub(crate) fn open_tab(&self, address: &str) {
        let tab = self.runtime.block_on(self.client.new_window(true)).unwrap();
        self.runtime.block_on(self.client.switch_to_window(tab.handle)).unwrap();
        self.open(address);
    }

    /// Opens an address in a new window, which becomes the page under test, and returns its handle.
    pub(crate) fn open_window(&self, address: &str) -> WindowHandle {
        let window = self.runtime.block_on(self.client.new_window(false)).unwrap();
        self.show(&window.handle);
        self.open(address);
        window.handle
    }

    /// Makes a window the page under test.
    pub(crate) fn show(&self, window: &WindowHandle) {
        self.runtime.block_on(self.client.switch_to_window(window.clone())).unwrap();
    }

    /// Closes the page under test; another tab becomes the page under test.
    pub(crate) fn close_tab(&self) {
        self.runtime.block_on(self.client.close_window()).unwrap();
        let tab = self.runtime.block_on(self.client.windows()).unwrap().pop().unwrap();
        self.runtime.block_on(self.client.switch_to_window(tab)).unwrap();
    }

    /// Loads the page again.
    pub(crate) fn reload(&self) {
        self.runtime.block_on(self.client.refresh()).unwrap();
        self.keep_reports();
    }

    fn keep_reports(&self) {
        self.run(
            "window.reports = [];
             console.error = (...all) => reports.push(all.map(String).join(' '));
             addEventListener('error', ({ message }) => reports.push(message));
             addEventListener('securitypolicyviolation', ({ violatedDirective }) => reports.push(violatedDirective));",
        );
    }

    /// The errors that the page has noticed.
    pub(crate) fn reports(&self) -> Vec<String> {
        serde_json::from_value(self.run("return reports")).unwrap()
    }

    /// Runs the body of a function in the page. A promise is waited for.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.run_with(script, Vec::new())
    }

    pub(crate) fn run_with(&self, script: &str, arguments: Vec<Value>) -> Value {
        let result = self.runtime.block_on(self.client.execute(script, arguments));
        result.unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// The value of an expression.
    pub(crate) fn get(&self, expression: &str) -> Value {
        self.run(&format!("return ({expression})"))
    }

    /// Waits until an expression is true.
    pub(crate) fn until(&self, expression: &str) {
        let begun = Instant::now();
        while self.get(expression) != json!(true) {
            if begun.elapsed() > PATIENCE {
                let shown =
                    self.get("location.href + '\\n' + document.body.innerText.slice(0, 4000)");
                panic!("never true: {expression}\n{}", shown.as_str().unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Presses keys, one after the other, wherever the focus is.
    pub(crate) fn press(&self, keys: impl IntoIterator<Item = char>) {
        let actions =
            keys.into_iter().fold(KeyActions::new("keys".to_owned()), |actions, value| {
                actions.then(KeyAction::Down { value }).then(KeyAction::Up { value })
            });
        self.runtime.block_on(self.client.perform_actions(actions)).unwrap();
    }

    /// Clicks on an element, as soon as it is there and can be clicked: the page may be about to replace it.
    pub(crate) fn click(&self, selector: &str) {
        let begun = Instant::now();
        loop {
            let clicked = self
                .runtime
                .block_on(async { self.client.find(Locator::Css(selector)).await?.click().await });
            match clicked {
                Ok(()) => return,
                Err(error) => assert!(begun.elapsed() < PATIENCE, "{selector}: {error}"),
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until the page equals the page that the server would send now, without missing or repeated parts.
    pub(crate) fn is_whole(&self) {
        self.until(
            "(async () => {
                const fresh = await (await fetch(location.pathname)).text();
                const entries = (page) => [...page.querySelectorAll('#feed .entry')].map((entry) => {
                    const copy = entry.cloneNode(true);
                    for (const open of [copy, ...copy.querySelectorAll('[open]')]) open.removeAttribute('open');
                    return copy.outerHTML;
                });
                const there = entries(document);
                const should = entries(new DOMParser().parseFromString(fresh, 'text/html'));
                return there.length > 0 && JSON.stringify(there) === JSON.stringify(should);
            })()",
        );
    }

    /// The number of entries that are loaded.
    pub(crate) fn entries(&self) -> u64 {
        self.get("document.querySelectorAll('#feed .entry').length").as_u64().unwrap()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.runtime.block_on(self.client.clone().close());
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn capabilities(screen: Screen, profile: &TempDir) -> Capabilities {
    let mut options = json!({
        "args": [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-extensions", "--window-size=1280,900",
            format!("--user-data-dir={}", profile.path().display()),
        ],
    });
    if screen == Screen::Phone {
        options["mobileEmulation"] = json!({ "deviceMetrics": { "width": 390, "height": 844, "pixelRatio": 3.0, "touch": true } });
    }
    let mut capabilities = Capabilities::new();
    capabilities.insert("goog:chromeOptions".to_owned(), options);
    capabilities
}
