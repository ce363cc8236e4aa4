//! The kernel's maple tree interface: its calls, its cursor and its error codes, over a [`WordMap`].
//!
//! This module is for code that is written against the kernel's tree, and for replaying that tree's recorded answers.
//! New code should use [`WordMap`] itself, which has no zero entry, no states and more precise errors.
//!
//! | The kernel's | Here |
//! |---|---|
//! | `mtree_store_range`, `mtree_insert_range`, `mtree_erase` | [`Tree::store_range`], [`insert_range`](Tree::insert_range), [`erase`](Tree::erase) |
//! | `mtree_load`, `mt_find`, `mt_find_after`, `mt_next`, `mt_prev` | [`Ranges::load`], [`find`](Ranges::find), [`find_after`](Ranges::find_after), [`next`](Ranges::next), [`prev`](Ranges::prev) |
//! | `mtree_alloc_range`, `mtree_alloc_rrange`, `mtree_alloc_cyclic` | [`Tree::alloc_range`], [`alloc_rrange`](Tree::alloc_rrange), [`alloc_cyclic`](Tree::alloc_cyclic) |
//! | `mtree_dup`, `mtree_destroy`, `mtree_empty` | [`Tree::dup`], [`destroy`](Tree::destroy), [`is_empty`](Tree::is_empty) |
//! | `MA_STATE`, `mas_set`, `mas_set_range`, `mas_reset`, `mas_pause` | [`MaState::new`], [`set`](MaState::set), [`set_range`](MaState::set_range), [`reset`](MaState::reset), [`pause`](MaState::pause) |
//! | `mas_walk`, `mas_find`, `mas_next`, `mas_prev`, each also `_range` and `_rev` | [`MaState::walk`], [`find`](MaState::find), [`next`](MaState::next), [`prev`](MaState::prev) and so on |
//! | `mas_store`, `mas_store_gfp`, `mas_erase` | [`MaState::store`], [`store_gfp`](MaState::store_gfp), [`erase`](MaState::erase) |
//! | `mas_preallocate`, `mas_store_prealloc`, `mas_destroy` | [`MaState::preallocate`], [`Preallocated::store_prealloc`], dropping it |
//! | `mas_empty_area`, `mas_empty_area_rev` | [`MaState::empty_area`], [`empty_area_rev`](MaState::empty_area_rev) |
//! | `-EBUSY`, `-EEXIST`, `-EINVAL`, `-ENOMEM` | [`Error`](crate::Error) and [`Error::code`](crate::Error::code) |
//!
//! The answers are those recorded from Linux 7.3, except where its tree is known to be wrong (`tests/maple/defects.rs`
//! has each case). A tree has one owner and takes no lock. With the feature `std`, a tree over a `SharedMap` has one writer
//! and readers that take no lock, which go over [`Tree::read`]; the same cursor and the same calls work on both. Calls have the cost of the [`WordMap`] calls that they
//! use: searches and stores O(log n) for n entries, aligned searches and walks over ranges O(n).
//!
//! ```
//! use freehold_linux::Error;
//! use freehold_linux::maple::{Flags, Item, Ranges, Tree};
//! use std::sync::Arc;
//!
//! let mut regions = Tree::new(Flags { alloc_range: true, ..Flags::default() });
//! regions.insert_range(0x1000, 0x1fff, Item::Entry(Arc::new("nic")))?;
//! regions.insert_range(0x2000, 0x2fff, Item::Zero)?; // kept free of others, read as nothing
//! let at = regions.alloc_range(0x1000, 0x1000, 0xffff, Item::Entry(Arc::new("disk")))?;
//! assert_eq!((at, regions.load(0x3800)), (0x3000, Some(&"disk")));
//! let refused = regions.insert_range(0x2800, 0x2800, Item::Entry(Arc::new("gpu"))).unwrap_err();
//! assert_eq!((refused.cause, refused.cause.code()), (Error::Exists, -17));
//! # Ok::<(), freehold_maple::Rejected<Item<Arc<&str>>, Error>>(())
//! ```

mod alloc;
mod cursor;
mod find;
mod item;
mod map;
mod planner;
mod ranges;
#[cfg(feature = "std")]
mod shared;
mod store;
mod tree;

pub use alloc::Cycled;
pub use cursor::{MaState, State};
pub use item::Item;
pub use map::{Map, OwnedPlan, Planned, Stored, Way};
pub use planner::Planner;
pub use ranges::Ranges;
#[cfg(feature = "std")]
pub use shared::{SharedMap, SharedPlan};
pub use store::Preallocated;
pub use tree::{Flags, Tree};

#[cfg(doc)]
use freehold_maple::WordMap;
