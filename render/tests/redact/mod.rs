//! What is replaced before others see it.

mod corpus;
mod events;
mod masked_lines;
mod notation;
mod shapes_of_secrets;
