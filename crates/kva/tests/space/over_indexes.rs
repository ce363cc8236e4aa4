//! Checks that every index must pass: each becomes a test of its own for each index of a list.

/// `over_indexes!({ name: Index, .. }, check, ..)` makes a test `over::check::name` of `check::<Index>()`.
macro_rules! over_indexes {
    (@one $check:ident { $($name:ident: $index:ty),+ $(,)? }) => {
        $(#[test]
        fn $name() {
            super::super::$check::<$index>();
        })+
    };
    ($indexes:tt, $($check:ident),+ $(,)?) => {
        mod over {
            $(mod $check {
                over_indexes!(@one $check $indexes);
            })+
        }
    };
}
