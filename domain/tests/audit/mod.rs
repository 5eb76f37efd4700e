//! The audit trail: its form, its links and its signatures.

mod canonical_json;
mod chained_records;
mod signatures;
