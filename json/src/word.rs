//! Eight bytes examined at once, as one integer.
//!
//! A mark is the highest bit of a byte. The lowest mark is exact; higher marks may be wrong, because a subtraction
//! borrows from the byte above ("Bit Twiddling Hacks", Anderson, on zero bytes in a word).

const LOW: u64 = u64::from_ne_bytes([0x01; 8]);
const LETTERS: u64 = u64::from_ne_bytes([b'a'; 8]);
const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);

/// Marks the bytes equal to `byte`.
#[inline]
pub(super) fn equal(word: u64, byte: u8) -> u64 {
    let word = word ^ u64::from_ne_bytes([byte; 8]);
    word.wrapping_sub(LOW) & !word & HIGH
}

/// Marks the bytes below the space.
#[inline]
pub(super) fn below_space(word: u64) -> u64 {
    word.wrapping_sub(u64::from_ne_bytes([b' '; 8])) & !word & HIGH
}

/// The index of the byte with the lowest mark.
#[inline]
pub(super) fn lowest(marks: u64) -> Option<usize> {
    (marks != 0).then_some(marks.trailing_zeros() as usize / 8)
}

/// The offset of the first byte that `marks` marks. It must not mark a letter.
#[inline]
pub fn first(bytes: &[u8], marks: impl Fn(u64) -> u64) -> Option<usize> {
    for (number, word) in bytes.as_chunks().0.iter().enumerate() {
        if let Some(at) = lowest(marks(u64::from_le_bytes(*word))) {
            return Some(8 * number + at);
        }
    }
    // The last word overlaps the previous one; a short text is padded with letters.
    let (word, before) = match bytes.last_chunk() {
        Some(last) => (u64::from_le_bytes(*last), bytes.len() - 8),
        None => (bytes.iter().rev().fold(LETTERS, |word, byte| word << 8 | u64::from(*byte)), 0),
    };
    lowest(marks(word)).map(|at| before + at)
}

/// The length of the common prefix of two texts.
pub(super) fn common(a: &[u8], b: &[u8]) -> usize {
    let words = a.as_chunks().0.iter().zip(b.as_chunks().0);
    let mut same = 0;
    for (a, b) in words {
        match u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b) {
            0 => same += 8,
            different => return same + different.trailing_zeros() as usize / 8,
        }
    }
    same + a[same..].iter().zip(&b[same..]).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_is_found(
            bytes in prop::collection::vec(prop_oneof![3 => 0u8..=255, 2 => 0x1du8..0x25], 0..40),
        ) {
            prop_assert_eq!(
                first(&bytes, |word| equal(word, b'"')),
                bytes.iter().position(|byte| *byte == b'"')
            );
            prop_assert_eq!(first(&bytes, below_space), bytes.iter().position(|byte| *byte < b' '));
        }

        #[test]
        fn the_common_beginning_is_found(
            a in prop::collection::vec(0u8..2, 0..40), b in prop::collection::vec(0u8..2, 0..40), same in 0usize..40,
        ) {
            let b: Vec<_> = a.iter().take(same).copied().chain(b).collect();
            let expected = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
            prop_assert_eq!(common(&a, &b), expected);
        }
    }
}
