//! `foldline mcp`: the running program, asked by a client.

mod answers;
mod budget;
pub(crate) mod client;
mod hostile;
mod project;
mod protocol;
mod questions;
mod served;

use super::{logs, serve};
