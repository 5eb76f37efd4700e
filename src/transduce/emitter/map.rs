//! [`map`]: an emitter with other outputs.

use std::{fmt, marker::PhantomData};

use super::Emitter;
use crate::transduce::{
    Batch,
    wrapper::{access, forward_resume},
};

/// Applies `f` to the outputs of an emitter, including those at the end.
///
/// Gives emitters with different outputs the same output type, as required in a `Vec`. (A function rather than a
/// method, because an `Option` is an emitter and has its own `map`.)
///
/// ```
/// use foldline::transduce::{Batch, Emitter, emit_fn, map};
///
/// let length = map(emit_fn(|line: &str| Batch::one(line.len())), |n: usize| format!("{n} bytes"));
/// let upper = emit_fn(|line: &str| Batch::one(line.to_uppercase()));
///
/// let mut both: Vec<Box<dyn Emitter<str, String>>> = vec![Box::new(length), Box::new(upper)];
/// assert_eq!(both.emit("four").as_slice(), ["4 bytes", "FOUR"]);
/// ```
#[inline]
pub fn map<Event, A, B, M, F>(emitter: M, f: F) -> Map<M, F, A>
where
    Event: ?Sized,
    M: Emitter<Event, A>,
    F: FnMut(A) -> B,
{
    Map { emitter, f, from: PhantomData }
}

/// The emitter returned by [`map`].
pub struct Map<M, F, A> {
    emitter: M,
    f: F,
    /// The output of the inner emitter, which neither type parameter names.
    from: PhantomData<fn(A)>,
}

impl<Event, A, B, M, F> Emitter<Event, B> for Map<M, F, A>
where
    Event: ?Sized,
    M: Emitter<Event, A>,
    F: FnMut(A) -> B,
{
    #[inline]
    fn emit(&mut self, event: &Event) -> Batch<B> {
        self.emitter.emit(event).map(&mut self.f)
    }

    #[inline]
    fn finish(&mut self) -> Batch<B> {
        self.emitter.finish().map(&mut self.f)
    }
}

access!(Map<M, F, A>, emitter: M);
forward_resume!(Map<M, F, A>, emitter: M);

// Implemented by hand: a derive would require the same of the outputs, which are not stored.
impl<M: Clone, F: Clone, A> Clone for Map<M, F, A> {
    fn clone(&self) -> Self {
        Map { emitter: self.emitter.clone(), f: self.f.clone(), from: PhantomData }
    }
}

impl<M: fmt::Debug, F, A> fmt::Debug for Map<M, F, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Map").field("emitter", &self.emitter).finish_non_exhaustive()
    }
}
