//! [`Batch`]: the output of one step, without an allocation in the usual case.

use std::{fmt, iter::FusedIterator, mem, option, slice, vec};

/// Zero, one or many, in order.
///
/// Most inputs yield at most one item, so only a batch of two or more allocates. Batches with equal items are equal,
/// however the items were added.
///
/// An item, an `Option`, a `Vec` and an array all convert `into()` a batch. If the item type cannot be inferred, use
/// [`one`](Self::one) or `collect`: a `Vec` may be an item too.
///
/// ```
/// use foldline::transduce::Batch;
///
/// let mut batch = Batch::EMPTY;
/// batch.push(1);
/// batch.append(Batch::from([2, 3]));
/// assert_eq!(batch.as_slice(), [1, 2, 3]);
/// assert_eq!(batch, (1..=3).collect());
/// ```
#[must_use = "dropped events are lost"]
#[derive(Clone)]
pub struct Batch<T>(Repr<T>);

#[derive(Clone)]
enum Repr<T> {
    Zero,
    One(T),
    /// May contain fewer than two items if converted from a `Vec`: the allocation is kept.
    Many(Vec<T>),
}

impl<T> Batch<T> {
    /// The empty batch.
    pub const EMPTY: Self = Batch(Repr::Zero);

    /// A batch of one item; does not allocate.
    #[inline]
    pub const fn one(item: T) -> Self {
        Batch(Repr::One(item))
    }

    /// Appends an item. The second item allocates, the first does not.
    #[inline]
    pub fn push(&mut self, item: T) {
        match &mut self.0 {
            Repr::Zero => self.0 = Repr::One(item),
            Repr::One(_) => self.spill(Batch::one(item)),
            Repr::Many(items) => items.push(item),
        }
    }

    /// Appends all items of another batch.
    #[inline]
    pub fn append(&mut self, other: Self) {
        match (&mut self.0, other.0) {
            (_, Repr::Zero) => {}
            (Repr::Zero, other) => self.0 = other,
            (Repr::Many(items), Repr::One(item)) => items.push(item),
            (Repr::Many(items), Repr::Many(mut others)) => items.append(&mut others),
            (Repr::One(_), other) => self.spill(Batch(other)),
        }
    }

    /// Converts from one item to many. Out of line, so that the callers stay small.
    #[cold]
    fn spill(&mut self, others: Self) {
        let items = mem::take(self).into_iter().chain(others).collect();
        self.0 = Repr::Many(items);
    }

    /// The items, in order.
    #[inline]
    pub const fn as_slice(&self) -> &[T] {
        match &self.0 {
            Repr::Zero => &[],
            Repr::One(item) => slice::from_ref(item),
            Repr::Many(items) => items.as_slice(),
        }
    }

    /// The items, in order, mutable.
    #[inline]
    pub const fn as_mut_slice(&mut self) -> &mut [T] {
        match &mut self.0 {
            Repr::Zero => &mut [],
            Repr::One(item) => slice::from_mut(item),
            Repr::Many(items) => items.as_mut_slice(),
        }
    }

    /// The number of items.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Whether the batch has no items.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }

    /// The items by reference, in order.
    #[inline]
    pub fn iter(&self) -> slice::Iter<'_, T> {
        self.as_slice().iter()
    }

    /// A batch of the results of `f`, in the same order.
    #[inline]
    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> Batch<U> {
        Batch(match self.0 {
            Repr::Zero => Repr::Zero,
            Repr::One(item) => Repr::One(f(item)),
            Repr::Many(items) => Repr::Many(items.into_iter().map(f).collect()),
        })
    }

    /// Passes every item to `f`, in order. Compiles to less code than a `for` loop.
    #[inline]
    pub fn drain_with(self, mut f: impl FnMut(T)) {
        match self.0 {
            Repr::Zero => {}
            Repr::One(item) => f(item),
            Repr::Many(items) => items.into_iter().for_each(f),
        }
    }
}

impl<T> Default for Batch<T> {
    #[inline]
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<T: PartialEq> PartialEq for Batch<T> {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<T: Eq> Eq for Batch<T> {}

impl<T: fmt::Debug> fmt::Debug for Batch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl<T> From<T> for Batch<T> {
    #[inline]
    fn from(item: T) -> Self {
        Batch::one(item)
    }
}

impl<T> From<Option<T>> for Batch<T> {
    #[inline]
    fn from(item: Option<T>) -> Self {
        // A `match` moves a large item one time less than `map_or`.
        match item {
            Some(item) => Batch::one(item),
            None => Batch::EMPTY,
        }
    }
}

impl<T> From<Vec<T>> for Batch<T> {
    #[inline]
    fn from(items: Vec<T>) -> Self {
        Batch(Repr::Many(items))
    }
}

impl<T, const N: usize> From<[T; N]> for Batch<T> {
    #[inline]
    fn from(items: [T; N]) -> Self {
        items.into_iter().collect()
    }
}

impl<T> Extend<T> for Batch<T> {
    #[inline]
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.push(item);
        }
    }
}

impl<T> FromIterator<T> for Batch<T> {
    #[inline]
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut items = items.into_iter();
        let Some(first) = items.next() else { return Batch::EMPTY };
        let Some(second) = items.next() else { return Batch::one(first) };
        // From the second item on, a single allocation of the right size for the rest.
        let mut many = Vec::with_capacity(items.size_hint().0.saturating_add(2));
        many.extend([first, second]);
        many.extend(items);
        Batch(Repr::Many(many))
    }
}

impl<T> IntoIterator for Batch<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    #[inline]
    fn into_iter(self) -> IntoIter<T> {
        IntoIter(match self.0 {
            Repr::Zero => Iter::Few(None.into_iter()),
            Repr::One(item) => Iter::Few(Some(item).into_iter()),
            Repr::Many(items) => Iter::Many(items.into_iter()),
        })
    }
}

impl<'a, T> IntoIterator for &'a Batch<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> slice::Iter<'a, T> {
        self.iter()
    }
}

/// The items of a [`Batch`], by value and in order.
#[derive(Clone, Debug)]
pub struct IntoIter<T>(Iter<T>);

#[derive(Clone, Debug)]
enum Iter<T> {
    Few(option::IntoIter<T>),
    Many(vec::IntoIter<T>),
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        match &mut self.0 {
            Iter::Few(items) => items.next(),
            Iter::Many(items) => items.next(),
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Iter::Few(items) => items.size_hint(),
            Iter::Many(items) => items.size_hint(),
        }
    }
}

impl<T> DoubleEndedIterator for IntoIter<T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        match &mut self.0 {
            Iter::Few(items) => items.next_back(),
            Iter::Many(items) => items.next_back(),
        }
    }
}

impl<T> ExactSizeIterator for IntoIter<T> {}
impl<T> FusedIterator for IntoIter<T> {}
