//! [`Crash`]: what may be on a disk after the power failed.
//!
//! Synced data is kept. Any other data may be lost, in any order, as POSIX leaves it open:
//!
//! - A write may be lost, or be there in part: some of its sectors, or the length of the file without the
//!   bytes. A sector is written whole or not at all.
//! - A file that was created, renamed or removed may have its earlier name, or none, until the folder was
//!   synced. To sync the file itself is not enough. A rename is there or not, and nothing between.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::disk::{Disk, FileId, Files, Operation};
use crate::logs::Random;

/// The size in bytes that a disk writes atomically.
const SECTOR: usize = 512;

/// The loss of data that was not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Nothing, as when the program is killed and the machine keeps running.
    Nothing,
    /// Everything.
    Everything,
    /// Which file has which name; the contents are there.
    Names,
    /// The contents; the names are there.
    Contents,
    /// The contents, but not the lengths.
    Bytes,
    /// The contents of one file.
    ContentsOf(FileId),
    /// Everything but the contents of one file.
    AllBut(FileId),
    /// Anything, decided by a number.
    Random(u64),
}

/// The fate of one operation that was not synced.
enum Fate {
    Kept,
    Lost,
    /// The length of a write is there, its bytes are not.
    Empty,
    /// Some sectors of a write are there.
    Torn(Random),
}

/// The moment after some operations.
pub(crate) struct Crash<'d> {
    disk: &'d Disk,
    /// How many operations.
    pub(crate) after: usize,
    /// How many operations at the beginning are on the disk for certain, for each file.
    synced: BTreeMap<FileId, usize>,
    /// The same for each folder.
    synced_folders: BTreeMap<&'d Path, usize>,
}

impl<'d> Crash<'d> {
    pub(crate) fn after(disk: &'d Disk, after: usize) -> Self {
        let (mut synced, mut synced_folders) = (BTreeMap::new(), BTreeMap::new());
        for operation in &disk.operations[..after] {
            let (until, before) = match operation {
                Operation::SyncFile { file, before } => (synced.entry(*file).or_default(), before),
                Operation::SyncFolder { folder, before } => {
                    (synced_folders.entry(folder.as_path()).or_default(), before)
                }
                _ => continue,
            };
            *until = (*before).max(*until);
        }
        Self { disk, after, synced, synced_folders }
    }

    /// The ways in which something may be lost, `random` of them by chance.
    pub(crate) fn losses(&self, random: u64) -> Vec<Loss> {
        let pending = self.pending();
        if pending.is_empty() {
            return vec![Loss::Nothing];
        }
        let files: BTreeSet<_> =
            pending.iter().filter_map(|at| written(&self.disk.operations[*at])).collect();
        let mut losses = vec![Loss::Nothing, Loss::Names, Loss::Contents, Loss::Bytes];
        // Between two syncs it is always the same that is left then.
        let last = self.after.checked_sub(1).map(|at| &self.disk.operations[at]);
        if matches!(last, Some(Operation::SyncFile { .. } | Operation::SyncFolder { .. })) {
            losses.push(Loss::Everything);
        }
        losses.extend(files.iter().map(|file| Loss::ContentsOf(*file)));
        losses.extend(files.iter().map(|file| Loss::AllBut(*file)));
        losses.extend((0..random).map(|seed| Loss::Random(seed + 1000 * self.after as u64)));
        losses
    }

    /// The operations that may be lost.
    fn pending(&self) -> Vec<usize> {
        (0..self.after).filter(|at| !self.is_synced(*at, &self.disk.operations[*at])).collect()
    }

    fn is_synced(&self, at: usize, operation: &Operation) -> bool {
        let until = match operation {
            Operation::Write { file, .. } | Operation::SetLength { file, .. } => {
                self.synced.get(file)
            }
            Operation::Link { path, .. }
            | Operation::Rename { path, .. }
            | Operation::Unlink { path, .. } => self.synced_folders.get(path.parent().unwrap()),
            Operation::SyncFile { .. } | Operation::SyncFolder { .. } => return true,
        };
        until.is_some_and(|until| at < *until)
    }

    /// The readable contents after the loss.
    pub(crate) fn files(&self, loss: Loss) -> Files {
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        if let Loss::Random(seed) = loss {
            random = Random((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        }
        let mut contents: BTreeMap<FileId, Vec<u8>> =
            self.disk.contents.iter().cloned().enumerate().collect();
        let mut names = self.disk.names.clone();
        for (at, operation) in self.disk.operations[..self.after].iter().enumerate() {
            let fate = match self.is_synced(at, operation) {
                true => Fate::Kept,
                false => loss.fate(operation, &mut random),
            };
            if !matches!(fate, Fate::Lost) {
                apply(operation, fate, &mut contents, &mut names);
            }
        }
        names
            .into_iter()
            .map(|(path, file)| (path, contents.get(&file).cloned().unwrap_or_default()))
            .collect()
    }
}

impl Loss {
    fn fate(self, operation: &Operation, random: &mut Random) -> Fate {
        let file = written(operation);
        let kept = match self {
            Self::Nothing => true,
            Self::Everything => false,
            Self::Names => file.is_some(),
            Self::Contents => file.is_none(),
            Self::Bytes if file.is_some() => return Fate::Empty,
            Self::Bytes => true,
            Self::ContentsOf(lost) => file != Some(lost),
            Self::AllBut(kept) => file == Some(kept),
            Self::Random(_) => {
                return match random.below(8) {
                    0..=3 => Fate::Kept,
                    4 | 5 => Fate::Lost,
                    6 => Fate::Empty,
                    _ => Fate::Torn(Random(random.below(1 << 40) + 1)),
                };
            }
        };
        if kept { Fate::Kept } else { Fate::Lost }
    }
}

/// The file whose contents the operation changes, unless it is about names.
fn written(operation: &Operation) -> Option<FileId> {
    match operation {
        Operation::Write { file, .. } | Operation::SetLength { file, .. } => Some(*file),
        _ => None,
    }
}

fn apply(
    operation: &Operation,
    fate: Fate,
    contents: &mut BTreeMap<FileId, Vec<u8>>,
    names: &mut BTreeMap<PathBuf, FileId>,
) {
    match operation {
        Operation::Write { file, at, bytes } => {
            write(contents.entry(*file).or_default(), *at, bytes, fate);
        }
        Operation::SetLength { file, length } => {
            contents.entry(*file).or_default().resize(*length, 0);
        }
        Operation::Link { path, file } => {
            names.insert(path.clone(), *file);
        }
        Operation::Rename { from, path, file } => {
            if names.get(from) == Some(file) {
                names.remove(from);
            }
            names.insert(path.clone(), *file);
        }
        Operation::Unlink { path, file } => {
            if names.get(path) == Some(file) {
                names.remove(path);
            }
        }
        Operation::SyncFile { .. } | Operation::SyncFolder { .. } => {}
    }
}

fn write(contents: &mut Vec<u8>, at: usize, bytes: &[u8], fate: Fate) {
    let end = at + bytes.len();
    match fate {
        Fate::Lost => {}
        Fate::Kept => {
            contents.resize(contents.len().max(end), 0);
            contents[at..end].copy_from_slice(bytes);
        }
        Fate::Empty => contents.resize(contents.len().max(end), 0),
        Fate::Torn(mut random) => {
            if random.below(2) == 0 {
                contents.resize(contents.len().max(end), 0);
            }
            let mut from = at;
            while from < end {
                let to = end.min((from / SECTOR + 1) * SECTOR);
                if random.below(2) == 0 {
                    contents.resize(contents.len().max(to), 0);
                    contents[from..to].copy_from_slice(&bytes[from - at..to - at]);
                }
                from = to;
            }
        }
    }
}
