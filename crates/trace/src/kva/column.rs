//! The columns of recorded answers: one for each engine or oracle.

use crate::named::named;

named! {
    /// Whose answers a column holds.
    Column {
        Linux "k" "The Linux 6.12 free-tree engine."
        Lowest "l" "The exact lowest address."
        Highest "h" "The exact highest address."
        BestFit "b" "The smallest block that fits."
        Gap "g" "The gap allocator of Linux <= 5.1."
    }
}
