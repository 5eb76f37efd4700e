//! [`Candidates`]: the formats that a record may belong to.

use crate::executors::Format;

/// A set of formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidates(u16);

const _: () = assert!(Format::ALL.len() <= u16::BITS as usize);

impl Candidates {
    /// No format at all.
    pub(super) const NONE: Self = Self(0);
    /// Every format: what a record says that says nothing.
    pub(super) const ALL: Self = Self::of(&Format::ALL);

    /// These formats.
    pub(super) const fn of(mut formats: &[Format]) -> Self {
        let mut set = 0;
        while let [first, rest @ ..] = formats {
            set |= 1 << *first as u16;
            formats = rest;
        }
        Self(set)
    }

    /// The formats in both sets.
    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The formats of this set that are not in the other.
    pub(super) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The format, where only one is left.
    pub(super) fn only(self) -> Option<Format> {
        let mut formats = self.iter();
        formats.next().filter(|_| formats.next().is_none())
    }

    /// The formats, in the order of [`Format::ALL`].
    pub(super) fn iter(self) -> impl Iterator<Item = Format> {
        let has = move |format: &Format| self.0 & Self::of(&[*format]).0 != 0;
        Format::ALL.into_iter().filter(has)
    }
}

impl From<Format> for Candidates {
    fn from(format: Format) -> Self {
        Self::of(&[format])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_narrowed_to_the_only_one_left() {
        let some = Candidates::of(&[Format::Amp, Format::Qwen, Format::Acp]);
        assert_eq!(some.iter().collect::<Vec<_>>(), [Format::Amp, Format::Qwen, Format::Acp]);
        assert_eq!(some.only(), None);
        assert_eq!(some.and(Format::Qwen.into()).only(), Some(Format::Qwen));
        assert_eq!(some.without(Candidates::of(&[Format::Amp, Format::Acp])), Format::Qwen.into());
        assert_eq!(some.and(Format::Droid.into()), Candidates::NONE);
        assert_eq!(Candidates::ALL.iter().count(), Format::ALL.len());
    }
}
