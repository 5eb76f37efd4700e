//! The shell: bytes to lines to inputs, on one thread and on two.

mod lines;
mod relay;
