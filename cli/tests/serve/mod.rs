//! `foldline serve`, over HTTP as a program would ask it, and in a browser where there is one.

pub(crate) use crate::logs;

mod actions;
mod agent;
mod browser;
pub(crate) mod client;
mod clock;
mod crowd;
mod limits;
mod list;
mod npm;
mod packages;
mod pages;
mod past;
mod run;
mod safety;
mod streams;
mod times;
mod trees;
mod usage;
