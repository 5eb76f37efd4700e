//! Sessions as OpenTelemetry: the spans of fixtures, their names, and what a growing log may change.

mod conventions;
mod signals;
mod spans;
mod turns;
