//! [`Suite`]: checks of random inputs, which are shrunk.

use std::{cell::RefCell, fmt::Debug};

use proptest::{
    collection::vec,
    prelude::*,
    sample::subsequence,
    strategy::ValueTree,
    test_runner::{RngSeed, TestError, TestRunner},
};

use super::{
    Law, Outcome, Place, Report, Step, Violation, caught, environment, environment::Turn,
    walk::steps,
};

/// The inputs of a run: up to 32 of these. A list is shrunk by whole inputs, and then input by input.
pub fn inputs<T: Debug + 'static>(
    input: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Vec<T>> {
    vec(input, 0..=32)
}

/// Some of the inputs of a log, in order: none of them is changed, also by shrinking.
pub fn part_of<T: Clone + Debug + 'static>(log: Vec<T>) -> impl Strategy<Value = Vec<T>> {
    let length = log.len();
    subsequence(log, 0..=length)
}

type Text<'a, T> = Box<dyn Fn(&[T]) -> String + 'a>;
type Run<'a, T> = Box<dyn Fn(&[T], &[Step]) -> Result<Outcome, Violation> + 'a>;

/// A law, or several that are checked at once.
pub(super) struct Check<'a, T> {
    pub(super) laws: &'static [Law],
    /// Whether the author has declared it: then some inputs have to exercise it.
    pub(super) is_declared: bool,
    pub(super) run: Run<'a, T>,
}

/// Checks of random inputs.
pub(super) struct Suite<'a, T> {
    inputs: BoxedStrategy<Vec<T>>,
    /// The whole run as text, for another process.
    text: Text<'a, T>,
    pub(super) cases: u32,
    pub(super) without: Vec<Law>,
    pub(super) checks: Vec<Check<'a, T>>,
}

impl<'a, T: Clone + Debug + 'static> Suite<'a, T> {
    pub(super) fn new(
        inputs: impl Strategy<Value = Vec<T>> + 'static,
        text: impl Fn(&[T]) -> String + 'a,
    ) -> Self {
        let (inputs, text) = (inputs.boxed(), Box::new(text));
        let cases = ProptestConfig::default().cases.div_ceil(4);
        Self { inputs, text, cases, without: Vec::new(), checks: Vec::new() }
    }

    /// The same inputs in every run, unless `PROPTEST_RNG_SEED` is set.
    fn runner(&self) -> TestRunner {
        let default = ProptestConfig::default();
        let rng_seed = match default.rng_seed {
            RngSeed::Random => RngSeed::Fixed(0),
            seed @ RngSeed::Fixed(_) => seed,
        };
        let (cases, failure_persistence) = (self.cases, None);
        TestRunner::new(ProptestConfig { cases, failure_persistence, rng_seed, ..default })
    }

    pub(super) fn verdict(&self) -> Result<Report, Violation> {
        let mut report = Report::default();
        report.skip(&self.without, "omitted");
        let turn = environment::turn();
        if turn != Turn::Asked {
            for check in self.checks.iter().filter(|check| !self.without.contains(&check.laws[0])) {
                let outcome = self.checked(check)?;
                report.outcomes.extend(check.laws.iter().map(|law| (*law, outcome)));
            }
        }
        report.check(Law::Environment, || {
            let mut runner = self.runner();
            let mut cases = Vec::new();
            while cases.len() < self.cases as usize {
                cases.extend(self.inputs.new_tree(&mut runner).map(|tree| tree.current()));
            }
            environment::in_turn(turn, &cases, |inputs| (self.text)(inputs))
        })?;
        Ok(report)
    }

    fn checked(&self, check: &Check<'_, T>) -> Result<Outcome, Violation> {
        let law = check.laws[0];
        let run = |(inputs, steps): &(Vec<T>, Vec<Step>)| {
            let result = caught(law, Place::Unknown, || (check.run)(inputs, steps));
            result.map_err(|violation| {
                let violation = violation.shown("inputs", inputs);
                if steps.is_empty() { violation } else { violation.shown("steps", steps) }
            })
        };
        let outcome = RefCell::new(Outcome::Vacuous("no inputs"));
        let last = RefCell::new(None::<Violation>);
        let steps = if law == Law::Walk { steps().boxed() } else { Just(Vec::new()).boxed() };
        let result = self.runner().run(&(self.inputs.clone(), steps), |case| match run(&case) {
            Ok(next) => {
                let mut outcome = outcome.borrow_mut();
                if *outcome != Outcome::Checked {
                    *outcome = next;
                }
                Ok(())
            }
            // Shrinking must not lead to another fault.
            Err(other) if last.borrow().as_ref().is_some_and(|last| last.law != other.law) => {
                Ok(())
            }
            Err(violation) => {
                last.replace(Some(violation));
                Err(TestCaseError::fail(law.name()))
            }
        });
        match (result, outcome.into_inner()) {
            (Ok(()), Outcome::Vacuous(missing)) if check.is_declared => {
                let message = format!("nothing that was generated exercises it: {missing}");
                Err(Violation::new(law, Place::Start, message))
            }
            (Ok(()), outcome) => Ok(outcome),
            (Err(TestError::Abort(reason)), _) => {
                Err(Violation::new(law, Place::Start, format!("no inputs: {reason}")))
            }
            // A violation that does not occur again is a matter of chance: the last one is shown.
            (Err(TestError::Fail(reason, case)), _) => {
                let last = last.into_inner();
                let first = last.as_ref().map(|last| last.law);
                let found = run(&case).err().filter(|found| Some(found.law) == first).or(last);
                Err(found.unwrap_or_else(|| Violation::new(law, Place::Unknown, reason.message())))
            }
        }
    }
}
