//! Exit codes of the program, the same as those of `foldline`.

pub(crate) const SUCCESS: u8 = 0;
pub(crate) const FAILED: u8 = 1;
pub(crate) const USAGE: u8 = 2;

/// Exit codes and variables, for `--help`.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  failed: something could not be read or written, or the brokers failed
  2  wrong use
  4  no agent keeps logs on this machine, and no logs were specified

Environment:
  FOLDLINE_BROKERS  bootstrap brokers
  RUST_LOG          what to log to stderr, e.g. foldline_fleet=debug";
