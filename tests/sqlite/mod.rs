//! The database: what a check finds.

mod check;
