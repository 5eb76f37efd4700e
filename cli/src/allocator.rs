//! How the allocator of glibc treats large blocks and free memory.
//!
//! It returns large blocks to the system when they are freed, but it raises the size that counts as large to that
//! of the largest block so far, up to 32 MiB, and then keeps such blocks, in each thread. A log with one line of
//! 16 MiB would cost several times its size until the end. With a fixed size they are returned at once. That and the
//! rest can be set by the environment only, before the program starts, since unsafe code is forbidden here.

use std::process::Command;

/// From this size on, in bytes, a block is large.
const LARGE: (&str, &str) = ("MALLOC_MMAP_THRESHOLD_", "1048576");

/// So much free memory is kept, in bytes: what is read from one file after another is not fetched anew for each.
const KEPT: (&str, &str) = ("MALLOC_TRIM_THRESHOLD_", "4194304");

/// So many free blocks of each small size a thread keeps for itself. What was reduced of a chunk of a log is freed at
/// once, and by whom it was allocated: with the usual 7 blocks, most of that goes through lists that threads share.
const CACHED: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.tcache_count=300");

const SETTINGS: [(&str, &str); 3] = [LARGE, KEPT, CACHED];

/// Starts the program again with fixed sizes, unless the environment has one.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn settle() {
    use std::{env, os::unix::process::CommandExt};

    if env::var_os(LARGE.0).is_some() {
        return;
    }
    let Ok(program) = env::current_exe() else { return };
    let mut arguments = env::args_os();
    let mut command = Command::new(program);
    if let Some(name) = arguments.next() {
        command.arg0(name);
    }
    let settings = SETTINGS.into_iter().filter(|(setting, _)| env::var_os(setting).is_none());
    // Returns only if it failed: then memory is not bounded as tightly, and everything else is the same.
    let _ = command.args(arguments).envs(settings).exec();
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn settle() {}

/// Keeps the settings from another program.
pub(crate) fn unsettle(command: &mut Command) {
    for (setting, size) in SETTINGS {
        if std::env::var_os(setting).is_some_and(|set| set == size) {
            command.env_remove(setting);
        }
    }
}
