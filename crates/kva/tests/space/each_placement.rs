//! Checks that hold under several placements: each becomes a test of its own for each of them.

/// `each_placement!({ lowest: Lowest, .. }, check, ..)` makes a test `under::check::lowest` of `check(Placement::Lowest)`.
macro_rules! each_placement {
    (@one $check:ident { $($name:ident: $placement:ident),+ }) => {
        $(#[test]
        fn $name() {
            super::super::$check(freehold_kva::Placement::$placement);
        })+
    };
    ($placements:tt, $($check:ident),+ $(,)?) => {
        mod under {
            $(mod $check {
                each_placement!(@one $check $placements);
            })+
        }
    };
}
