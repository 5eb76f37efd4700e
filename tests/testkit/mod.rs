//! The laws and the suite for ledgers find what they are for: each broken part is caught.

mod law;
mod ledger;
