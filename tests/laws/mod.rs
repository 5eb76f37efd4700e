//! The laws, on reducers and emitters that are correct, and on those that are broken on purpose.

mod access_log;
mod bank;
mod broken_emitters;
mod broken_reducers;
mod faults;
