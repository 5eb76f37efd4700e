//! Files that hold what people said: for their owner only, replaced as a whole, and there after a power loss.

mod folder;
mod private;
mod replace;

pub(crate) use self::replace::is_at;
pub use self::{
    folder::sync_name,
    private::{owner_only, owner_only_folder},
    replace::{replace_file, temporary_of},
};
