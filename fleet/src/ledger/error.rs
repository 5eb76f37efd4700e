//! [`KafkaLedgerError`]: why a ledger on Kafka cannot go on.

use rdkafka::error::{KafkaError, RDKafkaErrorCode};

/// Why a [`KafkaLedger`](super::KafkaLedger) cannot be opened, or why nothing was committed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KafkaLedgerError {
    /// Another ledger of the same name was opened since: this one is stale, and may not commit again.
    #[error("another owner has taken over")]
    Fenced,
    /// A commit failed before: the ledger must be opened again.
    #[error("an earlier commit failed; open the ledger again")]
    Failed,
    /// The cluster did not do what it was asked.
    #[error("cannot {doing}: {error}")]
    Cluster {
        /// What was being done.
        doing: &'static str,
        /// What the client says.
        error: KafkaError,
    },
    /// A stored state cannot be read.
    #[error("the stored state of {name:?} is damaged: {reason}")]
    Damaged {
        /// Of which source or mark.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl KafkaLedgerError {
    /// An error while `doing` something, to be used with `map_err`.
    pub(super) fn of(doing: &'static str) -> impl Fn(KafkaError) -> Self {
        move |error| match is_fenced(&error) {
            true => Self::Fenced,
            false => Self::Cluster { doing, error },
        }
    }
}

/// Whether the error says that somebody else owns what is written.
fn is_fenced(error: &KafkaError) -> bool {
    use RDKafkaErrorCode as Code;
    let code = match error {
        KafkaError::Transaction(error) => error.code(),
        error => match error.rdkafka_error_code() {
            Some(code) => code,
            None => return false,
        },
    };
    matches!(
        code,
        Code::Fenced
            | Code::ProducerFenced
            | Code::InvalidProducerEpoch
            | Code::FencedInstanceId
            | Code::IllegalGeneration
            | Code::UnknownMemberId
    )
}
