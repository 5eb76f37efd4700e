//! [`EmitterLaws`]: the laws of any emitter, on random events.

use std::{
    fmt::{Debug, Display},
    marker::PhantomData,
    rc::Rc,
};

use proptest::strategy::Strategy;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    Law, Outcome, Report, Violation, applied,
    emitters::{every, outputs},
    resume,
    suite::{Check, Suite},
};
use crate::transduce::{Emitter, Resume};

/// The laws of an emitter, which are checked on random events: those of [`emitter`](super::emitter), that of the environment, and those
/// that are declared.
///
/// ```
/// use foldline::{laws::{EmitterLaws, inputs}, transduce::{Batch, memoryless}};
/// use proptest::prelude::*;
///
/// let double = || memoryless(|n: &u32| Batch::one(u64::from(*n) * 2));
/// EmitterLaws::of(double, inputs(any::<u32>())).resumes().check();
/// ```
#[must_use = "nothing is checked before `check` or `verdict`"]
pub struct EmitterLaws<'a, Event, M, Out> {
    suite: Suite<'a, Event>,
    make: Rc<dyn Fn() -> M + 'a>,
    out: PhantomData<Out>,
}

impl<'a, Event, M, Out> EmitterLaws<'a, Event, M, Out>
where
    Event: Clone + Debug + 'static,
    M: Emitter<Event, Out> + 'a,
    Out: PartialEq + Debug + 'a,
{
    /// The laws of the emitters that `make` returns, for these events.
    pub fn of(
        make: impl Fn() -> M + 'a,
        events: impl Strategy<Value = Vec<Event>> + 'static,
    ) -> Self {
        let make: Rc<dyn Fn() -> M + 'a> = Rc::new(make);
        let again = Rc::clone(&make);
        let suite = Suite::new(events, move |events| format!("{:#?}", outputs(again(), events)));
        let laws = Self { suite, make, out: PhantomData };
        every().into_iter().fold(laws, |laws, (law, check)| laws.with(law.alone(), check))
    }

    fn with(
        mut self,
        laws: &'static [Law],
        check: impl Fn(&dyn Fn() -> M, &[Event]) -> Result<(), Violation> + 'a,
    ) -> Self {
        let make = Rc::clone(&self.make);
        let run = Box::new(move |events: &[Event], _: &_| {
            check(&*make, events)?;
            Ok(if events.is_empty() { Outcome::Vacuous("no event") } else { Outcome::Checked })
        });
        self.suite.checks.push(Check { laws, is_declared: true, run });
        self
    }

    /// The number of random runs; a quarter of proptest's by default. `PROPTEST_RNG_SEED` gives others.
    pub fn cases(mut self, cases: u32) -> Self {
        self.suite.cases = cases;
        self
    }

    /// Law 2: see [`resume`].
    pub fn resumes(self) -> Self
    where
        M: Resume<State: Serialize + DeserializeOwned>,
    {
        self.with(Law::SplitInvariance.alone(), |make, events| resume(make, events))
    }

    /// Laws 7 and 26: see [`applied`].
    pub fn applied<D: Clone + PartialEq + Debug + 'a, Error: Display>(
        self,
        start: D,
        apply: impl Fn(&mut D, Out) -> Result<(), Error> + 'a,
        fold: impl Fn(&[Event]) -> D + 'a,
    ) -> Self {
        self.with(&[Law::CommutingDiagram, Law::Join], move |make, events| {
            applied(make, events, &start, &apply, &fold)
        })
    }

    /// Checks the laws.
    ///
    /// # Errors
    /// The first violated law, with the smallest events.
    pub fn verdict(&self) -> Result<Report, Violation> {
        self.suite.verdict()
    }

    /// Checks the laws, in a test.
    ///
    /// # Panics
    /// If a law is violated.
    #[track_caller]
    #[expect(clippy::panic, reason = "that is how a test fails")]
    pub fn check(&self) -> Report {
        self.verdict().unwrap_or_else(|violation| panic!("{violation}"))
    }
}
