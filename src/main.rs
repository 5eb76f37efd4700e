//! The program `foldline`.
fn main() {}
