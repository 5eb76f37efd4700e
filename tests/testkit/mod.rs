//! Tests of the laws and of the ledger suite: each violation is detected.

mod law;
mod ledger;
