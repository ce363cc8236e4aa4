//! Tests of the kernel's calls on a maple tree, as one program. Those that need nothing of one of the two maps run on a
//! tree with one owner and, with the feature `std`, on a shared one.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]
#![allow(clippy::duplicate_mod, reason = "the same tests run on both maps")]

mod memory;

/// The tests on a tree with one owner.
#[path = "."]
mod owned {
    use freehold_linux::maple::{self, Flags};
    use freehold_maple::{NonNullValue, WordMap};

    pub(super) type Tree<E> = maple::Tree<E>;
    pub(super) type Reading<'t, E> = &'t WordMap<Option<E>>;

    pub(super) fn new<E: NonNullValue>(flags: Flags) -> Tree<E> {
        Tree::new(flags)
    }

    #[path = "calls.rs"]
    mod calls;
    #[path = "cursor.rs"]
    mod cursor;
    #[path = "defects.rs"]
    mod defects;
}

/// The same tests on a shared tree.
#[cfg(feature = "std")]
#[path = "."]
mod shared {
    use freehold_linux::maple::{self, Flags, SharedMap};
    use freehold_maple::{MapleTree, NonNullValue, maple_tree};

    pub(super) type Tree<E> = maple::Tree<E, SharedMap<'static, E>>;
    pub(super) type Reading<'t, E> = maple_tree::Reading<'t, Option<E>>;

    /// The map is leaked: a test's trees live as long as the program.
    pub(super) fn new<E: NonNullValue>(flags: Flags) -> Tree<E> {
        Tree::with_map(flags, Box::leak(Box::new(MapleTree::new())))
    }

    #[path = "calls.rs"]
    mod calls;
    #[path = "cursor.rs"]
    mod cursor;
    #[path = "defects.rs"]
    mod defects;
}
