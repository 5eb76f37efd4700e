//! The ledger over a transactional log, with a broker in memory: does the trait fit?
#![cfg(feature = "full")]
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::collections::{BTreeMap, HashMap};

use foldline::{
    conversation::{Json, Position},
    ledger::{Checkpoint, Commit, CommitError, Ledger, Mark, SourceFacts, SourceName},
};

/// What a transactional producer offers (rdkafka: begin_transaction, send, send_offsets_to_transaction,
/// commit_transaction, abort_transaction), and the compacted topic of states.
#[derive(Default)]
struct Broker {
    outputs: Vec<String>,
    states: BTreeMap<String, String>,
    offsets: BTreeMap<String, i64>,
    epoch: u64,
}

#[derive(Debug, PartialEq)]
enum KafkaError {
    Fenced,
}

struct KafkaLedger<'b> {
    broker: &'b mut Broker,
    epoch: u64,
    /// What was read of the compacted topic when the partitions were assigned.
    known: HashMap<SourceName, Checkpoint>,
}

impl Ledger for KafkaLedger<'_> {
    type Output = Vec<String>;
    type Receipt = usize;
    type Error = KafkaError;

    fn load(&mut self, source: &SourceName) -> Result<Option<Checkpoint>, KafkaError> {
        if !self.known.contains_key(source)
            && let Some(state) = self.broker.states.get(source.as_str())
        {
            self.known.insert(source.clone(), serde_json::from_str(state).unwrap());
        }
        Ok(self.known.get(source).cloned())
    }

    fn commit(
        &mut self,
        commits: &[Commit<Vec<String>>],
        beside: &[Mark],
    ) -> Result<usize, CommitError<KafkaError>> {
        for commit in commits {
            // Kafka compares nothing: the epoch fences, and this instance alone owns the partition. The
            // comparison is with what this instance knows.
            let stored = self.load(&commit.source)?.map(|known| known.position);
            if stored != commit.expected {
                let (source_name, expected) = (commit.source.clone(), commit.expected);
                return Err(CommitError::Moved { source_name, expected, stored });
            }
        }
        if self.broker.epoch != self.epoch {
            self.known.clear();
            return Err(KafkaError::Fenced.into());
        }
        let mut sent = 0;
        for Commit { source, checkpoint, output, .. } in commits {
            sent += output.len();
            self.broker.outputs.extend(output.iter().cloned());
            let state = serde_json::to_string(checkpoint).unwrap();
            self.broker.states.insert(source.as_str().to_owned(), state);
            self.known.insert(source.clone(), checkpoint.clone());
        }
        for Mark { name, state } in beside {
            let offset: i64 = serde_json::from_str(state.get()).unwrap();
            self.broker.offsets.insert(name.clone(), offset);
        }
        Ok(sent)
    }

    fn mark(&mut self, name: &str) -> Result<Option<Json>, KafkaError> {
        Ok(self.broker.offsets.get(name).map(|offset| Json::from(&serde_json::json!(offset))))
    }

    /// A tombstone for the state; outputs cannot be taken back.
    fn forget(&mut self, source: &SourceName) -> Result<bool, KafkaError> {
        self.known.remove(source);
        Ok(self.broker.states.remove(source.as_str()).is_some())
    }
}

#[test]
fn it_fits() {
    let mut broker = Broker::default();
    let mut ledger = KafkaLedger { broker: &mut broker, epoch: 0, known: HashMap::new() };
    let source = SourceName::from("in-3/session-a");
    let checkpoint = Checkpoint {
        facts: SourceFacts::default(),
        position: Position { line: 2, offset: 10 },
        state: Json::default(),
        complete: false,
    };
    let commit =
        Commit { source: source.clone(), expected: None, checkpoint, output: vec!["a".to_owned()] };
    let offset = Mark { name: "in-3".to_owned(), state: Json::from(&serde_json::json!(17)) };
    assert_eq!(ledger.commit(std::slice::from_ref(&commit), &[offset]).unwrap(), 1);
    assert!(matches!(
        ledger.commit(std::slice::from_ref(&commit), &[]),
        Err(CommitError::Moved { .. })
    ));
    ledger.broker.epoch = 1;
    let next = Commit { expected: Some(Position { line: 2, offset: 10 }), ..commit };
    assert_eq!(ledger.commit(&[next], &[]), Err(CommitError::Failed(KafkaError::Fenced)));
    assert_eq!(ledger.load(&source).unwrap().map(|known| known.position.offset), Some(10));
}
