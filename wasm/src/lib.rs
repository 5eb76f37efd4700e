//! The reducers and the renderer for WebAssembly, in a page or in Node, without a server.
//!
//! A [`Fold`] takes the bytes of a log in chunks of any length, and returns the JSON Patches of its sessions as they
//! result: the lines of `foldline replay --format patches`, byte for byte. It also gives the documents of the sessions,
//! and their pages as HTML.
//!
//! It opens no files: the program around it reads the log. So the agents that keep their sessions in a database, or in
//! several files, are not read; a log that is one JSON document is.
//!
//! The module has a plain interface of functions and numbers (`exports`), which needs no generated code around it. Each
//! instance of the module is one fold, so its memory is released with the instance.
//!
//! ```
//! use foldline_wasm::{Fold, Options};
//!
//! let mut fold = Fold::new(Options::default())?;
//! let log = br#"{"type":"message","role":"user","id":"m1","text":"hi","timestamp":1}"#;
//! let (begin, end) = log.split_at(20);
//! let mut patches = fold.push(begin)?;
//! patches.extend(fold.push(end)?);
//! patches.extend(fold.finish()?);
//! let patches = String::from_utf8(patches)?;
//! assert!(patches.starts_with(r#"{"session":0,"seq":1,"position":{"line":1,"offset":0},"patch":["#));
//! assert!(patches.contains("\"hi\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(target_arch = "wasm32")]
mod exports;
mod fold;
mod outputs;
mod recognition;

pub use self::{
    fold::{Error, Fold, Options},
    outputs::Shown,
};
