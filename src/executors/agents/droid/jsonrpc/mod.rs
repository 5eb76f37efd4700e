//! `droid exec --input-format stream-jsonrpc --output-format stream-jsonrpc`: what a client and Droid say to
//! each other, in one or both directions.

mod recognise;
mod reducer;
mod types;
mod usage;

pub use self::reducer::DroidJsonrpc;
