//! [`KafkaLedgerError`]: the errors of a ledger on Kafka.

use rdkafka::error::{KafkaError, RDKafkaErrorCode};

/// The reason why a [`KafkaLedger`](super::KafkaLedger) cannot be opened, or why nothing was committed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KafkaLedgerError {
    /// Another ledger of the same name has been opened: this one is stale, and may not commit again.
    #[error("another owner has taken over")]
    Fenced,
    /// An earlier commit failed: the ledger must be reopened.
    #[error("an earlier commit failed; open the ledger again")]
    Failed,
    /// A request to the cluster failed.
    #[error("cannot {doing}: {error}")]
    Cluster {
        /// The operation.
        doing: &'static str,
        /// The error of the client.
        error: KafkaError,
    },
    /// A stored state cannot be read.
    #[error("the stored state of {name:?} is damaged: {reason}")]
    Damaged {
        /// The name of the source or mark.
        name: String,
        /// The reason.
        reason: String,
    },
}

impl KafkaLedgerError {
    /// An error while `doing` something, for `map_err`.
    pub(super) fn of(doing: &'static str) -> impl Fn(KafkaError) -> Self {
        move |error| match is_fenced(&error) {
            true => Self::Fenced,
            false => Self::Cluster { doing, error },
        }
    }
}

/// Whether the error says that another owner has taken over.
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
