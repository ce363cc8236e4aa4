//! The kernel's names for the maple tree, for read-copy-update, vmalloc and per-CPU memory: what `include/freehold/maple_tree.h` and
//! its neighbours call.
//!
//! ```text
//!   struct maple_tree            Kernel, made by the first store
//!   +---------+                  +---------------------------------------------+
//!   | ma_root | ---------------> | map     MapleTree, read by any thread       |
//!   | flags   |                  | writer  under a lock: Tree, a planned store |
//!   | lock    |                  +---------------------------------------------+
//!   +---------+
//!   struct ma_state: a tree, a range, a state, the number of a planned store
//! ```
//!
//! The rules of the calls and of the cursor are those of `freehold_linux::maple`; these files turn pointers, states and
//! errors of C into theirs and back. A panic does not leave an `extern "C" fn`: Rust prints it and aborts.
//!
//! | Module | What it has |
//! |---|---|
//! | `entry` | the pointers that a tree holds |
//! | `tree` | the tree behind a `struct maple_tree`: made at its first store, freed after its readers |
//! | `calls` | `mtree_*` and `mt_*` |
//! | `state` | the `struct ma_state` of C |
//! | `steps` | the cursor's walks and steps |
//! | `stores` | the cursor's stores, and its searches for gaps |
//! | `rcu` | read sections, grace periods, callbacks |
//! | `vmalloc` | blocks of pages |
//! | `percpu` | objects that exist once for each CPU |
//! | `checks` | `mt_validate`, `mt_dump`, the counts of `MT_BUG_ON` |

mod calls;
mod checks;
mod entry;
mod percpu;
mod rcu;
mod state;
mod steps;
mod stores;
mod tree;
mod vmalloc;
