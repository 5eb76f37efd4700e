//! Reducers that are broken on purpose.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeSet, HashSet},
    env,
    rc::Rc,
    sync::atomic::{AtomicU64, Ordering},
};

use foldline::{
    laws::{Law, Laws, Violation, inputs, part_of},
    transduce::{Batch, Emitter, Reducer, Resume, memoryless, reduce_fn},
};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    access_log, bank,
    faults::{Broken, broken},
};

static COUNT: AtomicU64 = AtomicU64::new(0);

fn numbers() -> impl Strategy<Value = Vec<u64>> {
    inputs(0_u64..50)
}

fn found<'a, In, S, E>(laws: &Laws<'a, In, S, E>) -> Violation
where
    In: Clone + std::fmt::Debug + 'static,
    S: Clone + PartialEq + std::fmt::Debug + 'a,
    E: PartialEq + std::fmt::Debug + 'a,
{
    laws.verdict().unwrap_err()
}

/// The greatest number so far, which the reducer remembers instead of the state.
#[derive(Default)]
struct Greatest(Cell<u64>);

impl Reducer<u64, (), u64> for Greatest {
    fn init(&self) {}

    fn reduce(&self, (): (), n: u64) -> ((), Batch<u64>) {
        self.0.set(self.0.get().max(n));
        ((), Batch::one(self.0.get()))
    }
}

/// Numbers that are held back until the end, in a list that the copies of the state share.
struct Shares;

type Shared = Rc<RefCell<Vec<u64>>>;

impl Reducer<u64, Shared, u64> for Shares {
    fn init(&self) -> Shared {
        Shared::default()
    }

    fn reduce(&self, held: Shared, n: u64) -> (Shared, Batch<u64>) {
        held.borrow_mut().push(n);
        (held, Batch::EMPTY)
    }

    fn finish(&self, held: Shared) -> (Shared, Batch<u64>) {
        let numbers = held.take();
        (held, numbers.into())
    }
}

/// Is done after a zero, and goes on.
struct Early;

impl Reducer<u64, bool, u64> for Early {
    fn init(&self) -> bool {
        false
    }

    fn reduce(&self, is_done: bool, n: u64) -> (bool, Batch<u64>) {
        (is_done || n == 0, Batch::one(n))
    }

    fn is_done(&self, is_done: &bool) -> bool {
        *is_done
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Forgetful {
    sum: u64,
    #[serde(skip)]
    last: u64,
}

/// Sums, of which every second one is held back; the memory is half of it.
#[derive(Default)]
struct Pairs {
    held: Option<u64>,
    forgets: bool,
    drains: Cell<bool>,
}

impl Emitter<u64, u64> for Pairs {
    fn emit(&mut self, n: &u64) -> Batch<u64> {
        if self.drains.replace(false) {
            self.held = None;
        }
        match self.held.take() {
            Some(held) => Batch::from([held, *n]),
            None => {
                self.held = Some(*n);
                Batch::EMPTY
            }
        }
    }

    fn finish(&mut self) -> Batch<u64> {
        self.held.take().into()
    }
}

impl Resume for Pairs {
    type State = Option<u64>;

    fn state(&self) -> Option<u64> {
        self.drains.set(!self.forgets);
        if self.forgets { None } else { self.held }
    }

    fn resume(&mut self, held: Option<u64>) {
        self.held = held;
    }
}

fn each() -> impl Reducer<u64, (), u64> {
    reduce_fn(|| (), |(), n: u64| ((), Batch::one(n)))
}

/// A line for each number, and back.
fn written(text: impl Fn(&str) -> String + Copy + 'static) -> Violation {
    let reducer = move || reduce_fn(|| (), move |(), line: String| ((), Batch::one(text(&line))));
    let laws = Laws::of(reducer, inputs("[a-c\\\\;]{1,4}"));
    found(&laws.round_trip(|events: &[String]| events.to_vec()))
}

pub(super) fn all() -> Vec<Broken> {
    use access_log::Fault as Log;
    use bank::Fault as Money;
    let money = |kind, law, fault| broken(kind, law, move || bank::violation(fault));
    let log = |kind, law, fault| broken(kind, law, move || access_log::violation(fault));
    vec![
        broken("panics at an odd input: a division by zero", Law::Totality, || {
            let reducer = || reduce_fn(|| 0, |sum, n: u64| (sum, Batch::one(100 / n)));
            found(&Laws::of(reducer, numbers()))
        }),
        money("panics in a rare state", Law::Totality, Money::DividesByTheBalance),
        log("slices a text within a character", Law::Totality, Log::SlicesText),
        broken(
            "counts in a static, reads a clock, draws a random number",
            Law::Determinism,
            || {
                let count = |sum, _: u64| (sum, Batch::one(COUNT.fetch_add(1, Ordering::Relaxed)));
                found(&Laws::of(move || reduce_fn(|| 0, count), numbers()))
            },
        ),
        broken("gives the order of a `HashMap` or `HashSet`", Law::Determinism, || {
            let reducer = || {
                reduce_fn(
                    || (),
                    |(), n: u64| ((), (0..n).collect::<HashSet<_>>().into_iter().collect()),
                )
            };
            found(&Laws::of(reducer, numbers()))
        }),
        broken("remembers something in the reducer", Law::SplitInvariance, || {
            found(&Laws::of(Greatest::default, numbers()))
        }),
        broken("does not store a field of the state", Law::SplitInvariance, || {
            let last = |state: Forgetful, n| {
                (Forgetful { sum: state.sum + n, last: n }, Batch::one(state.last))
            };
            found(&Laws::of(move || reduce_fn(Forgetful::default, last), numbers()).resumes())
        }),
        broken("shares something between copies of the state", Law::Prefix, || {
            found(&Laws::of(|| Shares, numbers()))
        }),
        broken("is done too early", Law::Prefix, || found(&Laws::of(|| Early, numbers()))),
        money("keeps something of every input", Law::BoundedState, Money::KeepsRefused),
        broken("remembers every id for ever", Law::BoundedState, || {
            let new = |mut seen: BTreeSet<u64>, n: u64| {
                let is_new = seen.insert(n);
                (seen, Batch::one(is_new))
            };
            let laws = Laws::of(move || reduce_fn(BTreeSet::new, new), numbers());
            found(&laws.bounded(|n, repetition| n + repetition * 50))
        }),
        money("drops an input silently", Law::Conservation, Money::RefusesSilently),
        log("drops a malformed line silently", Law::Conservation, Log::SwallowsRejected),
        money("doubles an event", Law::Conservation, Money::BooksTwice),
        money("rounds", Law::Conservation, Money::RoundsToEuros),
        log("does not end what is open at the end", Law::Conservation, Log::LosesOpenSessions),
        log("is off by one at a boundary", Law::Conservation, Log::LosesTheLineThatEnds),
        log("cuts a large number", Law::Conservation, Log::CutsBytes),
        log("takes two names for one", Law::Conservation, Log::IgnoresCase),
        log("lets a time go back", Law::Monotonicity, Log::GoesBackInTime),
        money("forgets ids", Law::Monotonicity, Money::ForgetsAccounts),
        money("lets a sum become negative", Law::Monotonicity, Money::AllowsDebts),
        money("lets one account depend on another", Law::Commutation, Money::RefusesAfterAnother),
        log("lets one session depend on another", Law::Commutation, Log::LooksAtOthers),
        money("takes a repeated input twice", Law::Idempotence, Money::BooksRepeated),
        money("is wrong at a limit", Law::Model, Money::RefusesTheLastCent),
        broken("merges by taking the larger of two sums", Law::Merge, || {
            let sum = || reduce_fn(|| 0, |sum: u64, n: u64| (sum + n, Batch::<u64>::EMPTY));
            found(&Laws::of(sum, numbers()).merges(Ord::max))
        }),
        broken("does not escape what it writes", Law::RoundTrip, || {
            written(|line| line.replace(';', "\\;"))
        }),
        broken("has an emitter that does not store what it holds back", Law::Walk, || {
            let pairs = || Pairs { forgets: true, ..Pairs::default() };
            found(&Laws::of(each, numbers()).walks(pairs))
        }),
        broken("has an emitter that a snapshot changes", Law::Walk, || {
            found(&Laws::of(each, numbers()).walks(Pairs::default))
        }),
    ]
}

/// The same laws hold for emitters and reducers that are correct.
#[test]
fn a_walk_of_what_is_correct_is_found_correct() {
    let lines = || memoryless(|n: &u64| Batch::one(n.to_string()));
    let report = Laws::of(each, part_of((0..40).collect())).walks(lines).check();
    assert!(report.is_checked(Law::Walk) && report.is_checked(Law::Environment), "{report}");
}

#[test]
fn a_reducer_that_depends_on_the_environment_is_found() {
    let zone = || reduce_fn(|| (), |(), n: u64| ((), Batch::one((env::var_os("TZ"), n))));
    let violation = found(&Laws::of(zone, numbers()));
    assert_eq!(violation.law, Law::Environment);
    assert!(violation.to_string().contains("Pacific/Kiritimati"), "{violation}");
}

#[test]
fn a_reducer_that_depends_on_the_working_folder_is_found() {
    let folder =
        || reduce_fn(|| (), |(), _: u64| ((), Batch::one(std::fs::exists("Cargo.toml").unwrap())));
    assert_eq!(found(&Laws::of(folder, numbers())).law, Law::Environment);
}

/// A law that nothing exercises proves nothing.
#[test]
fn a_declaration_without_an_effect_is_refused() {
    let violation = found(&Laws::of(each, numbers()).commutes(|_, _| false));
    assert_eq!(violation.law, Law::Commutation);
    assert!(violation.message.contains("no inputs are independent"), "{violation}");
    let violation = found(&Laws::of(each, part_of(Vec::new())).merges(|(), ()| ()));
    assert_eq!(violation.law, Law::Merge);
}

#[test]
fn a_state_that_grows_is_shown_in_short() {
    let push = |mut all: Vec<u64>, n: u64| {
        all.push(n);
        (all, Batch::<u64>::EMPTY)
    };
    let laws = Laws::of(move || reduce_fn(Vec::new, push), numbers());
    let text = found(&laws).to_string();
    assert!(text.contains("if it has to grow: `.without(&[Law::BoundedState])`"), "{text}");
    assert!(text.contains("\nthe state begins:\n  [0, 0, 0"), "{text}");
    assert!(text.ends_with("\ninputs:\n  [\n      0,\n  ]") && text.len() < 800, "{text}");
    laws.without(&[Law::BoundedState]).check();
}

/// The inputs are the smallest, the place is that of the difference, and both outcomes are shown.
#[test]
fn a_violation_shows_the_smallest_inputs_and_the_difference() {
    let drops = || reduce_fn(|| (), |(), n: u64| ((), Batch::from((n != 13).then_some(n))));
    let all = |numbers: &[u64], events: &[u64]| (numbers.len(), events.len());
    let violation = found(&Laws::of(drops, numbers()).conserves("numbers", all).cases(500));
    assert_eq!(
        violation.to_string(),
        "law 19 (conservation) does not hold, at completion: `numbers` differs\n--- one side\n\
         +++ the other\n@@ -1,1 +1,1 @@\n-1\n+0\nevents:\n  []\ninputs:\n  [\n      13,\n  ]"
    );
}
