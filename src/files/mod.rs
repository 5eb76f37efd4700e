//! Files with private content: owner-only permissions, atomic replacement, durable across a power loss.

mod folder;
mod immutable;
mod private;
mod replace;

pub use self::immutable::immutable_database;
pub(crate) use self::replace::is_at;
pub use self::{
    folder::sync_name,
    private::{owner_only, owner_only_folder},
    replace::{replace_file, temporary_of},
};
