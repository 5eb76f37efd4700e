//! A ledger over a transactional log, with a broker in memory: the trait also fits such an engine.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use foldline::ledger::{Checkpoint, Commit, CommitError, Ledger, Mark, SourceName};
use foldline_domain::{Json, Position};
use foldline_testkit::ledger::{self, Engine};
use proptest::prelude::*;

/// The target of a transactional producer (rdkafka: begin_transaction, send, send_offsets_to_transaction,
/// commit_transaction), and the compacted topic of states.
#[derive(Clone, Default)]
struct Broker {
    outputs: Vec<String>,
    states: BTreeMap<SourceName, String>,
    /// The input offsets next to the outputs.
    offsets: BTreeMap<String, Json>,
    /// Incremented by each registered producer; only the latest one may commit.
    epoch: u64,
}

#[derive(Debug, PartialEq)]
enum KafkaError {
    Fenced,
}

struct KafkaLedger {
    broker: Rc<RefCell<Broker>>,
    epoch: u64,
}

impl Ledger for KafkaLedger {
    type Output = Vec<String>;
    type Receipt = usize;
    type Error = KafkaError;

    fn load(&mut self, source: &SourceName) -> Result<Option<Checkpoint>, KafkaError> {
        let broker = self.broker.borrow();
        Ok(broker.states.get(source).map(|state| serde_json::from_str(state).unwrap()))
    }

    fn commit(
        &mut self,
        commits: &[Commit<Vec<String>>],
        beside: &[Mark],
    ) -> Result<usize, CommitError<KafkaError>> {
        // A broker compares epochs, not positions. Unless this producer was fenced, its positions are current.
        if self.broker.borrow().epoch != self.epoch {
            return Err(KafkaError::Fenced.into());
        }
        let mut positions = BTreeMap::<&SourceName, Option<Position>>::new();
        for Commit { source, expected, checkpoint, .. } in commits {
            let known = match positions.get(source) {
                Some(position) => *position,
                None => self.load(source)?.map(|known| known.position),
            };
            if known != *expected {
                let (source_name, expected) = (source.clone(), *expected);
                return Err(CommitError::Moved { source_name, expected, stored: known });
            }
            positions.insert(source, Some(checkpoint.position));
        }
        let mut broker = self.broker.borrow_mut();
        let sent = commits.iter().map(|commit| commit.output.len()).sum();
        for Commit { source, checkpoint, output, .. } in commits {
            broker.outputs.extend_from_slice(output);
            broker.states.insert(source.clone(), serde_json::to_string(checkpoint).unwrap());
        }
        broker.offsets.extend(beside.iter().map(|mark| (mark.name.clone(), mark.state.clone())));
        Ok(sent)
    }

    fn mark(&mut self, name: &str) -> Result<Option<Json>, KafkaError> {
        Ok(self.broker.borrow().offsets.get(name).cloned())
    }

    /// Writes a tombstone for the state; outputs cannot be retracted.
    fn forget(&mut self, source: &SourceName) -> Result<bool, KafkaError> {
        Ok(self.broker.borrow_mut().states.remove(source).is_some())
    }
}

#[derive(Default)]
struct KafkaEngine(Rc<RefCell<Broker>>);

impl Engine for KafkaEngine {
    type Ledger = KafkaLedger;
    const KEEPS_OUTPUTS: bool = true;

    fn open(&self) -> KafkaLedger {
        let mut broker = self.0.borrow_mut();
        broker.epoch += 1;
        KafkaLedger { broker: Rc::clone(&self.0), epoch: broker.epoch }
    }

    fn output(&self, _source: &SourceName, items: &[String]) -> Vec<String> {
        items.to_vec()
    }

    fn committed(&self, ledger: &mut KafkaLedger) -> Vec<String> {
        ledger.broker.borrow().outputs.clone()
    }
}

#[test]
fn it_fits() {
    ledger::check(KafkaEngine::default).unwrap_or_else(|violation| panic!("{violation}"));
}

#[test]
fn a_producer_that_was_fenced_commits_nothing() {
    ledger::exclusive(KafkaEngine::default).unwrap_or_else(|violation| panic!("{violation}"));
}

proptest! {
    #[test]
    fn it_holds_what_the_model_holds(operations in ledger::operations()) {
        ledger::model(KafkaEngine::default, &operations)?;
    }
}
