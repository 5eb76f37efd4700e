//! [`immutable_database`]: SQLite's name for a database that is read without locks.

use std::path::{Path, PathBuf};

/// The URI with which SQLite reads the database at a full path without locks. It creates no file next to the database,
/// which must contain all changes.
pub fn immutable_database(full: &Path) -> PathBuf {
    let mut uri = String::from("file:");
    for byte in full.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                uri.push(char::from(*byte));
            }
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    uri += "?immutable=1";
    uri.into()
}
