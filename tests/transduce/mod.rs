//! Reducers and emitters, and what combines them.

mod batch;
mod both;
mod closures;
mod contramap;
mod dyn_reducer;
mod keyed;
mod static_and_dynamic_fan_out;
mod tee;
mod then;
