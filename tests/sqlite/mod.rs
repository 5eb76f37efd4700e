//! The check of a database.

mod check;
