//! The shell: bytes to lines to inputs, on one thread and on two.

mod framer;
mod lines;
mod relay;
