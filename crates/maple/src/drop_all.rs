//! Dropping many values, of which one may panic.

/// Drops values one by one. If one panics, the others are dropped during the unwind. A second panic aborts the process,
/// as in the standard library's collections.
pub(crate) fn drop_all<T>(values: impl Iterator<Item = T>) {
    struct Rest<I: Iterator>(I);
    impl<I: Iterator> Drop for Rest<I> {
        fn drop(&mut self) {
            self.0.by_ref().for_each(drop);
        }
    }
    let mut rest = Rest(values);
    rest.0.by_ref().for_each(drop);
}
