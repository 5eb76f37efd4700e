//! Types of the API for other languages: a JSON Schema and declarations for TypeScript.
//!
//! Both are generated from the Rust types, with the version of the packages. They are served at `/api/schema.json` and
//! `/api/types.d.ts`, printed by `foldline schema`, and part of the package of npm. A test compares them; `FOLDLINE_RENEW=1 cargo test -p foldline-cli --lib serve::schema` regenerates them.

#[cfg(all(test, feature = "mcp"))]
mod renew;
#[cfg(all(test, feature = "mcp"))]
mod typescript;

/// The version of these types and of what the API sends. A field may be added under the same one.
pub(crate) const VERSION: u64 = 1;

/// A JSON Schema (2020-12) whose `$defs` are the types.
pub(crate) const SCHEMA: &str = include_str!("foldline.schema.json");

/// The same types for TypeScript.
pub(crate) const TYPES: &str = include_str!("foldline.d.ts");
