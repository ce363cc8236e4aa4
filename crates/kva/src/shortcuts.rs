//! Ways to do less that an index may take or leave: the talk's wishes, each to be switched for itself.
//!
//! None changes an answer or the shape of a tree; all that changes is the work.

/// What an index may skip. The default is what pays (`freehold bench kva --wishes` shows on what).
///
/// A new space on [`BTree`](crate::BTree) has the hot block alone. One on [`RbTree`](crate::RbTree) has nothing, so
/// that its work is that of the kernel's tree.
///
/// ```
/// use freehold_kva::{AddressSpace, Placement, Request, Shortcuts};
/// use freehold_units::{Align, Span};
///
/// let mut space: AddressSpace<()> = AddressSpace::new(Span::ALL, Align::PAGE, Placement::Lowest)?;
/// space.set_shortcuts(Shortcuts { hot_block: true, lazy_fixups: true });
/// assert_eq!(space.alloc(&Request::new(4096), ())?.first(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcuts {
    /// Remembers the block that served last under `Lowest`, and the size that no block below it has: a request of
    /// that size or more is served from there without a search if it fits.
    pub hot_block: bool,
    /// Leaves the maxima above a block that became smaller too high until another block changes. A search may pass
    /// such a node in vain; it misses nothing. Without effect on [`BTree`](crate::BTree), whose upkeep stops at
    /// the first node whose largest room is another child's.
    pub lazy_fixups: bool,
}

impl Shortcuts {
    /// None.
    pub const NONE: Self = Self { hot_block: false, lazy_fixups: false };
}

impl Default for Shortcuts {
    fn default() -> Self {
        Self { hot_block: true, ..Self::NONE }
    }
}
