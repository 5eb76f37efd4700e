//! Common parts of all wrappers: access to the inner value, `Debug`, and forwarding of `Resume`.

/// `into_inner`, `get_ref` and `get_mut`, named as in `std::io`.
macro_rules! access {
    ($Wrapper:ident<$($P:ident),+>, $field:tt: $Inner:ty) => {
        impl<$($P),+> $Wrapper<$($P),+> {
            /// Returns the inner value.
            #[inline]
            pub fn into_inner(self) -> $Inner {
                self.$field
            }

            /// A reference to the inner value.
            #[inline]
            pub const fn get_ref(&self) -> &$Inner {
                &self.$field
            }

            /// A mutable reference to the inner value.
            #[inline]
            pub const fn get_mut(&mut self) -> &mut $Inner {
                &mut self.$field
            }
        }
    };
}

/// The same for a pair.
macro_rules! access_pair {
    ($Wrapper:ident<$($P:ident),+>, $a:ident: $A:ty, $b:ident: $B:ty) => {
        impl<$($P),+> $Wrapper<$($P),+> {
            /// Returns both inner values, in order.
            #[inline]
            pub fn into_inner(self) -> ($A, $B) {
                (self.$a, self.$b)
            }

            /// References to both.
            #[inline]
            pub const fn get_ref(&self) -> (&$A, &$B) {
                (&self.$a, &self.$b)
            }

            /// Mutable references to both.
            #[inline]
            pub const fn get_mut(&mut self) -> (&mut $A, &mut $B) {
                (&mut self.$a, &mut self.$b)
            }
        }
    };
}

/// `Resume` for a wrapper that adds no memory to the inner emitter.
macro_rules! forward_resume {
    ($Wrapper:ident<$($P:ident),+>, $field:tt: $M:ident) => {
        impl<$($P),+> $crate::transduce::Resume for $Wrapper<$($P),+>
        where
            $M: $crate::transduce::Resume,
        {
            type State = $M::State;

            fn state(&self) -> $M::State {
                self.$field.state()
            }

            fn resume(&mut self, state: $M::State) {
                self.$field.resume(state);
            }
        }
    };
}

/// `Debug` without the closures, which have none.
macro_rules! debug {
    ($Wrapper:ident<$($P:ident),+> $(, $field:ident: $($Shown:ident),+)?) => {
        impl<$($P),+> std::fmt::Debug for $Wrapper<$($P),+>
        $(where $($Shown: std::fmt::Debug),+)?
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut shown = f.debug_struct(stringify!($Wrapper));
                $(shown.field(stringify!($field), &self.$field);)?
                shown.finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use {access, access_pair, debug, forward_resume};
