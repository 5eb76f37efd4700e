//! What is replaced before others see it.

mod events;
mod masked_lines;
mod shapes_of_secrets;
