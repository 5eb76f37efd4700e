//! A deadline for each test: a program that never answers ends the tests with the name of the waiting test.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    env, process,
    sync::{Mutex, Once, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// The tests that wait for a program, by name, and since when.
static WAITING: Mutex<BTreeMap<String, Instant>> = Mutex::new(BTreeMap::new());

/// Lasts as long as the thread of a test.
struct Waiting(String);

impl Drop for Waiting {
    fn drop(&mut self) {
        WAITING.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

thread_local! {
    static THIS: RefCell<Option<Waiting>> = const { RefCell::new(None) };
}

/// The test of this thread waits for a program from now on. `FOLDLINE_TEST_DEADLINE` is how many seconds that may take
/// [default: 900].
pub(crate) fn begin() {
    static WATCH: Once = Once::new();
    let Some(test) = thread::current().name().map(str::to_owned) else { return };
    WATCH.call_once(|| drop(thread::spawn(watch)));
    THIS.with_borrow_mut(|this| {
        this.get_or_insert_with(|| {
            let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.insert(test.clone(), Instant::now());
            Waiting(test)
        });
    });
}

fn watch() {
    let seconds = env::var("FOLDLINE_TEST_DEADLINE").ok().and_then(|it| it.parse().ok());
    let deadline = Duration::from_secs(seconds.unwrap_or(900));
    loop {
        thread::sleep(Duration::from_secs(1));
        let waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((test, _)) = waiting.iter().find(|(_, since)| since.elapsed() > deadline) {
            eprintln!("the test {test} still waits for the program after {deadline:?}");
            process::abort();
        }
    }
}
