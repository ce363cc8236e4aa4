//! Implementations of traits that iterators over another iterator have in common.

/// Implements the iterator traits, from both ends, by a method of the inner iterator's items. An attribute before the
/// generics is that of both steps. `, size_hint` passes on the inner iterator's.
macro_rules! mapped {
    (
        $(#[$inline:meta])?
        [$($generics:tt)*] $type:ty: $item:ty = $self:ident.$inner:tt.$map:ident($step:expr) $(, $size_hint:ident)?
    ) => {
        impl<$($generics)*> Iterator for $type {
            type Item = $item;

            $(#[$inline])?
            fn next(&mut $self) -> Option<Self::Item> {
                $self.$inner.next().$map($step)
            }

            $(fn $size_hint(&self) -> (usize, Option<usize>) {
                self.$inner.$size_hint()
            })?
        }

        impl<$($generics)*> DoubleEndedIterator for $type {
            $(#[$inline])?
            fn next_back(&mut $self) -> Option<Self::Item> {
                $self.$inner.next_back().$map($step)
            }
        }

        impl<$($generics)*> core::iter::FusedIterator for $type {}
    };
}
pub(crate) use mapped;

/// Implements `Debug` as a list of the items that are left.
macro_rules! listed {
    ($([$($generics:tt)*] $type:ty $(where [$($bounds:tt)*])?;)*) => {$(
        impl<$($generics)*> core::fmt::Debug for $type $(where $($bounds)*)? {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_list().entries(self.clone()).finish()
            }
        }
    )*};
}
pub(crate) use listed;
