//! How a file is recognised.

use std::io::Cursor;

use foldline::{
    ledger::{Extent, Identity},
    position::{Digest, Timestamp},
};

fn altered(mut identity: Identity, alter: impl FnOnce(&mut Identity)) -> Identity {
    alter(&mut identity);
    identity
}

fn numbered() -> Identity {
    altered(Identity::default(), |it| (it.device, it.inode) = (Some(1), Some(2)))
}

#[test]
fn an_extent_is_the_same_in_memory_and_in_a_file() {
    let bytes: Vec<u8> = (0..10_000_u32).map(|n| (n % 251) as u8).collect();
    for length in [0, 1, Extent::EDGE - 1, Extent::EDGE, 2 * Extent::EDGE + 1, bytes.len()] {
        let read = Extent::read(&mut Cursor::new(&bytes), length as u64).unwrap();
        assert_eq!(read, Some(Extent::of(&bytes[..length])), "{length}");
    }
    let longer = bytes.len() as u64 + 1;
    assert_eq!(Extent::read(&mut Cursor::new(&bytes), longer).unwrap(), None);
    assert_ne!(Extent::of(b""), Extent::default());
}

#[test]
fn a_file_without_a_number_is_the_same_as_none() {
    assert!(!Identity::default().is_same_file(&Identity::default()));
    let numbered = numbered();
    assert!(numbered.is_same_file(&altered(numbered, |it| it.size = 7)));
}

#[test]
fn a_file_is_untouched_only_if_the_system_says_so() {
    let known = altered(numbered(), |it| it.changed = Some(3));
    assert!(known.is_untouched_since(&known));
    for other in [
        altered(known, |it| it.changed = None),
        altered(known, |it| it.changed = Some(4)),
        altered(known, |it| it.inode = Some(3)),
        altered(known, |it| it.size = 1),
    ] {
        assert!(!other.is_untouched_since(&known), "{other:?}");
    }
    let unsure = altered(known, |it| it.changed = None);
    assert!(!unsure.is_untouched_since(&unsure));
}

#[test]
fn contents_differ_only_where_both_are_known() {
    let of = |text: &[u8]| altered(Identity::default(), |it| it.content = Some(Digest::of(text)));
    assert!(of(b"a").is_alike(&of(b"a")) && !of(b"a").is_alike(&of(b"b")));
    assert!(of(b"a").is_alike(&Identity::default()));
}

#[test]
fn a_copy_has_a_long_beginning_or_is_not_older() {
    let of = |length: usize, modified: i64| {
        let read = Extent::of(&vec![b'x'; length]);
        altered(numbered(), |it| {
            (it.read, it.modified) = (read, Some(Timestamp::from_millis(modified)));
        })
    };
    for (length, modified, is_copy) in
        [(1023, 4, false), (1023, 5, true), (1024, 4, true), (0, 6, false)]
    {
        assert_eq!(of(length, modified).is_copy_of(&of(length, 5)), is_copy, "{length} {modified}");
    }
}
