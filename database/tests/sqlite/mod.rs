//! The database: what it permits, what a commit writes, what a check finds, and what it answers.

mod check;
mod limits;
mod opened;
mod questions;
mod schema;
mod search;
mod trees;
mod work;
