//! The Agent Client Protocol: what a client and an agent say to each other, in one or both directions.

mod action_mapper;
mod calls;
mod recognise;
mod reducer;
mod types;

pub use self::reducer::{Acp, AcpMemory};
