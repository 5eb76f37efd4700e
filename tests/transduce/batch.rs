//! A batch is the list of its items, however it was made.

use foldline::transduce::*;

#[test]
fn the_way_in_does_not_show() {
    assert_eq!(Batch::one(1), Batch::from(vec![1]));
    assert_eq!(Batch::<u8>::EMPTY, Batch::from(vec![]));
    assert_eq!(Batch::<u8>::from(Some(1)), Batch::from([1]));
    assert_eq!(Batch::<u8>::from(None), Batch::default());
    assert_ne!(Batch::one(1), Batch::from([1, 1]));
    assert!(Batch::<u8>::from(vec![]).is_empty());
}

#[test]
fn a_container_is_an_item_when_the_type_says_so() {
    let one: Batch<Vec<u8>> = vec![1, 2].into();
    let two: Batch<u8> = vec![1, 2].into();
    assert_eq!((one.len(), two.len()), (1, 2));
}

#[test]
fn append_to_a_vector_that_came_from_outside() {
    let mut batch = Batch::from(Vec::with_capacity(8));
    batch.append(Batch::one(1));
    batch.append(Batch::from(vec![]));
    batch.append(Batch::from([2, 3]));
    assert_eq!(batch.as_slice(), [1, 2, 3]);
}

#[test]
fn reads_as_a_list() {
    assert_eq!(format!("{:?}", Batch::one('a')), "['a']");
    assert_eq!(format!("{:?}", Batch::<char>::EMPTY), "[]");
}
