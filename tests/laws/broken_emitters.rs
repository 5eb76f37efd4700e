//! Emitters that are broken on purpose.

use std::{
    cell::Cell,
    collections::HashMap,
    env,
    fmt::Debug,
    sync::atomic::{AtomicU64, Ordering},
};

use foldline::{
    laws::{EmitterLaws, Law, Violation, inputs},
    transduce::{Batch, Emitter, Resume, emit_fn},
};
use proptest::prelude::*;

use super::faults::{Broken, broken};

static COUNT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The line of the emitter that was made last.
    static LINE: Cell<u64> = const { Cell::new(0) };
}

fn events() -> impl Strategy<Value = Vec<u64>> {
    inputs(0_u64..9)
}

fn found<M, Out>(make: impl Fn() -> M) -> Violation
where
    M: Emitter<u64, Out>,
    Out: PartialEq + Debug,
{
    EmitterLaws::of(make, events()).verdict().unwrap_err()
}

/// What is wrong with a sum.
#[derive(Clone, Copy, Default, PartialEq)]
enum Fault {
    #[default]
    None,
    Forgets,
    Adds,
}

/// The sum so far.
#[derive(Default)]
struct Sum {
    sum: u64,
    fault: Fault,
}

impl Emitter<u64, u64> for Sum {
    fn emit(&mut self, n: &u64) -> Batch<u64> {
        self.sum += n;
        Batch::one(self.sum)
    }
}

impl Resume for Sum {
    type State = u64;

    fn state(&self) -> u64 {
        if self.fault == Fault::Forgets { 0 } else { self.sum }
    }

    fn resume(&mut self, sum: u64) {
        self.sum = if self.fault == Fault::Adds { self.sum + sum } else { sum };
    }
}

fn resumed(fault: Fault) -> EmitterLaws<'static, u64, Sum, u64> {
    EmitterLaws::of(move || Sum { sum: 0, fault }, events()).resumes()
}

/// The document of a client: a list, and names that its outputs use.
#[derive(Clone, Debug, Default)]
struct Document {
    list: Vec<u64>,
    names: Vec<u64>,
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Patch {
    Insert(usize, u64),
    Name(u64),
    Again(usize),
}

fn apply(document: &mut Document, patch: Patch) -> Result<(), String> {
    match patch {
        Patch::Insert(index, n) if index <= document.list.len() => document.list.insert(index, n),
        Patch::Insert(index, _) => return Err(format!("there is no index {index}")),
        Patch::Name(n) => document.names.push(n),
        Patch::Again(name) => document.list.push(*document.names.get(name).ok_or("unknown name")?),
    }
    Ok(())
}

/// The laws of an emitter of patches.
fn patches<M: Emitter<u64, Patch> + 'static>(
    make: impl Fn() -> M + 'static,
) -> EmitterLaws<'static, u64, M, Patch> {
    let fold = |events: &[u64]| Document { list: events.to_vec(), names: Vec::new() };
    EmitterLaws::of(make, events()).applied(Document::default(), apply, fold)
}

/// Inserts each number at the index that `index` makes of their count.
fn at(index: impl Fn(usize) -> usize + Copy) -> impl Emitter<u64, Patch> {
    let mut count = 0;
    emit_fn(move |n: &u64| {
        count += 1;
        Batch::one(Patch::Insert(index(count - 1), *n))
    })
}

/// Holds every second patch back, and forgets it at the end.
#[derive(Default)]
struct Late(Vec<Patch>, usize);

impl Emitter<u64, Patch> for Late {
    fn emit(&mut self, n: &u64) -> Batch<Patch> {
        self.0.push(Patch::Insert(self.1, *n));
        self.1 += 1;
        if self.0.len() == 2 { std::mem::take(&mut self.0).into() } else { Batch::EMPTY }
    }
}

pub(super) fn all() -> Vec<Broken> {
    vec![
        broken("panics at an event", Law::Totality, || {
            found(|| emit_fn(|n: &u64| Batch::one(9 / n)))
        }),
        broken("counts in a static", Law::Determinism, || {
            found(|| emit_fn(|_: &u64| Batch::one(COUNT.fetch_add(1, Ordering::Relaxed))))
        }),
        broken("gives the order of a `HashMap`", Law::Determinism, || {
            found(|| {
                let mut seen = HashMap::new();
                emit_fn(move |n: &u64| {
                    seen.insert(*n, ());
                    Batch::one(seen.keys().copied().collect::<Vec<_>>())
                })
            })
        }),
        broken("shares something with the emitters beside it", Law::Independence, || {
            found(|| {
                LINE.set(0);
                emit_fn(|_: &u64| {
                    LINE.set(LINE.get() + 1);
                    Batch::one(LINE.get())
                })
            })
        }),
        broken("recognises an event by its address", Law::ChunkInvariance, || {
            found(|| {
                let mut last = 0;
                emit_fn(move |n: &u64| -> Batch<u64> {
                    let address = std::ptr::from_ref(n).addr();
                    let is_new = std::mem::replace(&mut last, address) != address;
                    Batch::from(is_new.then_some(*n))
                })
            })
        }),
        broken("does not store its memory", Law::SplitInvariance, || {
            resumed(Fault::Forgets).verdict().unwrap_err()
        }),
        broken("adds the stored memory to its own", Law::SplitInvariance, || {
            resumed(Fault::Adds).verdict().unwrap_err()
        }),
        broken("gives the wrong index", Law::CommutingDiagram, || {
            patches(|| at(|count| count.saturating_sub(1))).verdict().unwrap_err()
        }),
        broken("gives an index that does not exist", Law::CommutingDiagram, || {
            patches(|| at(|count| count + count / 9)).verdict().unwrap_err()
        }),
        broken("holds something back, and loses it at the end", Law::CommutingDiagram, || {
            patches(Late::default).verdict().unwrap_err()
        }),
        broken("refers to what only the first client has received", Law::Join, || {
            let named = || {
                let mut names = Vec::new();
                emit_fn(move |n: &u64| match names.iter().position(|name| name == n) {
                    Some(name) => Batch::one(Patch::Again(name)),
                    None => {
                        names.push(*n);
                        Batch::from([Patch::Name(*n), Patch::Again(names.len() - 1)])
                    }
                })
            };
            patches(named).verdict().unwrap_err()
        }),
    ]
}

#[test]
fn correct_emitters_keep_the_laws() {
    let report = resumed(Fault::None).check();
    assert!(report.is_checked(Law::SplitInvariance), "{report}");
    let report = patches(|| at(|count| count)).check();
    assert!(report.is_checked(Law::Join) && report.is_checked(Law::Independence), "{report}");
}

#[test]
fn an_emitter_that_depends_on_the_environment_is_found() {
    let home = || emit_fn(|n: &u64| Batch::one((env::var_os("HOME"), *n)));
    assert_eq!(found(home).law, Law::Environment);
}
