//! The shared map: any thread reads without a lock while one at a time writes.
//!
//! ```text
//!   readers   guard, root --> | inner | --link--> leaf --> word
//!   writer    lock, plan --> copies of what changes --> one store of the lowest link above --> retire what they replace
//!                        \-> of a store over one entry, whole: one store of its word --------> retire the word before
//! ```
//!
//! # Guarantees
//! - A look-up takes no lock, never retries for a writer, and is linearizable: it returns what the map held at one
//!   moment within the call.
//! - A store, and a whole transaction, becomes visible through a single atomic store.
//! - Nothing that a reader can still reach is reused or dropped.
//!
//! # A store, step by step
//! One writer at a time, under the lock:
//!
//! 1. **Plan** (`tree/store.rs`). Finds the path to the range and the edit. Only reads.
//! 2. **Reserve.** Takes the nodes and the backlog records that steps 3 to 5 need. Reuses what readers have left. This
//!    is the only step that can fail (M12), and readers have seen nothing yet.
//! 3. **Build.** Plain writes to fresh copies of the nodes that change. No reader can reach these copies. A store that
//!    replaces the value of exactly one entry skips this step.
//! 4. **Publish** (`tree/publish.rs`). One *Release* store, of one of three places: the entry's word, the lowest link
//!    above all that changed, or the root. While there is a snapshot, the place is always the root. **This is the
//!    store's linearization point.** Release orders steps 1 to 3 before it.
//! 5. **Retire.** The nodes and words that were replaced go to the backlog, after the publication. They keep their
//!    content.
//! 6. **Reclaim**, in step 2 of a later store: after a grace period ([`freehold_rcu`]), a retired node is reused and a
//!    retired word's value is dropped.
//!
//! # A look-up, step by step
//! 1. **Enter** a guard. What is retired from now on is not reclaimed before the guard ends.
//! 2. **Load the root**, *Acquire*. The same word has the tree's height, so the two always match.
//! 3. **Descend.** In each inner node, search the pivots with plain loads: they never change while the node is
//!    reachable. Load the child's link, *Acquire*. The address of the child's chunk is a *Relaxed* load: the link's
//!    Acquire orders it (M11).
//! 4. **Read the leaf.** Search its shape, which never changes either, with plain loads. Load the word, *Acquire*.
//! 5. **Use** the value for as long as the guard lives.
//!
//! | Acquire load | pairs with the Release store in |
//! |---|---|
//! | root | `Published::set_root` |
//! | link of an inner node | `Arena::set_child` |
//! | word of a leaf | `Arena::set_word` |
//!
//! # Why a look-up is right
//! Number the publications 1, 2, 3, …: the lock puts them in one order, and each happens before the next. *The tree at
//! t* is the tree after publication t. Three facts hold (M10, M12):
//!
//! - (a) A reachable node never changes its index range, its pivots or its shape. A child's replacement covers the same
//!   range.
//! - (b) A link or a word changes only by a publication, and only while its node is in the tree. A node that has left
//!   the tree keeps its links and words until it is reclaimed.
//! - (c) A node is reclaimed only after every guard that could reach it has ended.
//!
//! Let t be the newest publication that happens before the reader's next load. The descent keeps one invariant: **the
//! reader's node is in the tree at t, and its range contains the index.**
//!
//! Look at one step: the load of a link. It reads the value that some publication b stored there. If the link has not
//! changed since its node was built, b is the publication that made the node reachable.
//!
//! - If b is at most t, the link has the same value at t: had it changed between b and t, the reader would have to see
//!   the later value, as everything up to t happens before its load. So the child is in the tree at t.
//! - If b is greater than t, the node was in the tree at b by (b), and so is the child. The Acquire load makes
//!   publication b, and all before it, happen before the reader's next load: t becomes b.
//!
//! In both cases the child's range contains the index, by (a). The load of the root is the same step, and so is the
//! load of the word. So the word is the map's answer at the final t. That moment lies within the call, as t only grows,
//! and starts at the newest publication that happens before the call. **The look-up's linearization point is directly
//! after publication t.**
//!
//! Three consequences:
//!
//! - A store is seen wholly or not at all, as it is one publication.
//! - A later look-up on the same thread sees the same moment or a later one, as t never decreases.
//! - There is no ABA: by (c), a node's number is not reused while a reader may still follow it.
//!
//! A snapshot reads from the root at its own moment. While it is counted, every publication is of the root (M12), so no
//! link or word that the snapshot can reach changes.
//!
//! # Invariants
//! M10, M12; chunks never move (M11).

mod arena;
mod atomic;
mod builder;
mod drops;
mod read;
mod reclaim;
mod search;
#[cfg(all(test, shuttle))]
mod shuttle_tests;
#[cfg(test)]
mod tests;
mod transaction;
mod view;
mod words;
mod write;
mod writer;

pub use builder::Builder;
pub use read::{Entries, Gaps, OwnedReading, Snapshot};
pub use reclaim::Reclaim;
pub use transaction::Transaction;
pub use view::{ReadGuard, Reading, SnapshotGuard};
pub use words::Reclaimed;

use crate::entry::StoredValue;
use crate::error::WriteError;
use crate::node::{Inner, Leaf, Nodes};
use alloc::sync::Arc;
use arena::Chunks;
use atomic::{AtomicUsize, Mutex, MutexGuard, this_thread};
use core::fmt;
use core::marker::PhantomData;
use core::sync::atomic::AtomicBool;
use freehold_rcu::fork::{self, Held, is_lost};
use freehold_rcu::{BacklogStats, Domain, wait_while};
use freehold_units::Broken;
use view::PublishedRoot;
use writer::Writer;

/// Maps ranges of `u64`, both ends included, to values of one word, for many threads: readers never wait, and one
/// writer at a time stores.
///
/// ```
/// use freehold_maple::MapleTree;
/// use std::sync::Arc;
///
/// let devices = MapleTree::new();
/// devices.store(0x1000..0x2000, Arc::new("uart"))?;
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         let reading = devices.read();
///         assert_eq!(reading.get(0x1800), Some(&"uart"));
///     });
///     scope.spawn(|| devices.store(0x4000..0x8000, Arc::new("disk")));
/// });
/// assert_eq!(devices.read().iter().count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What a read sees
/// Each look-up sees the map as it is at one moment within the call. It sees every store and every
/// [transaction](Self::transaction) wholly or not at all, and never a range that was not stored. A later look-up on the
/// same
/// thread sees the same moment or a later one.
///
/// An iterator goes from leaf to leaf:
///
/// - Each item was in the map at some moment since the iterator was made. The moments never go back from one item to
///   the next.
/// - Each item ends above the one before. An item that was stored meanwhile may begin below that one's end.
/// - An entry that nobody changes comes exactly once.
/// - An iterator that has seen a part of a store sees the rest of it further on.
///
/// From the back the same holds downwards. An iterator that is used from both ends is at two leaves: what its ends
/// return is ordered in time only for each end by itself. Either may still return an item of its leaf that a store has
/// removed, after the other has seen that store.
///
/// A [`Snapshot`] shows the map at one moment to every call.
///
/// # Memory, and what fails
/// A store over exactly one entry replaces its value. Every other store, and every removal, copies the nodes that it
/// changes.
///
/// Replaced nodes and values are reclaimed after a grace period. [`Reclaim`](crate::maple_tree::Reclaim) says when
/// removed values are dropped. Readers that stay delay this. Once [`BACKLOG_LIMIT`](Self::BACKLOG_LIMIT) bytes wait,
/// stores are refused ([`WriteError::Readers`](crate::maple_tree::WriteError::Readers)). So never more waits than that, plus
/// what one store or one transaction removes. Readers of one map also delay what other maps of the same domain retire: the
/// [builder](Self::builder) gives a map its own.
///
/// A store over exactly one entry retires nothing if the values need no drop, as numbers do. Such a store is not
/// refused, unless there is a [`Snapshot`]. A store that is refused has changed nothing.
///
/// # Fork
/// A child made by `fork` reads and writes its copy of the map, whatever other threads of the parent were doing. A
/// transaction of such a thread is undone in the child. [`freehold_rcu::fork`] says what else a child may do.
pub struct MapleTree<E: StoredValue> {
    published: Published,
    /// Snapshots that exist. Raised under the writer's lock, lowered when one is dropped.
    moments: AtomicUsize,
    /// Whether the last change left values to drop. Written under the writer's lock.
    has_leftovers: AtomicBool,
    writer: Mutex<Writer>,
    entries: PhantomData<OwnsAndTakes<E>>,
}

/// The map owns values and takes more of them through `&self`, as a `Mutex<E>` does. So it is invariant in `E`.
type OwnsAndTakes<E> = (E, fn(E) -> E);

/// The writer's state, locked in a section that no `fork` falls into.
type WriterGuard<'a> = Held<MutexGuard<'a, Writer>>;

/// The data that each look-up loads, in cache lines of its own, so that no other write of the writer slows readers
/// down.
#[repr(align(128))]
struct Published {
    /// The published version. The writer stores it with Release; readers load it with Acquire.
    root: PublishedRoot,
    leaves: Arc<Chunks<Leaf>>,
    inners: Arc<Chunks<Inner>>,
    /// The domain of the readers; `None` for the global one.
    domain: Option<Arc<Domain>>,
}

impl<E: StoredValue> MapleTree<E> {
    /// An empty map, for readers of the [global](freehold_rcu::Domain::global) domain, that drops removed values in
    /// batches. [`builder`](Self::builder) has other choices.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// An empty map that uses only a part of its nodes' slots, as `nodes` says. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn with_nodes(nodes: Nodes) -> Self {
        Self::builder().nodes(nodes).build()
    }

    /// Locks the writer's state for one operation. It may contain the version of an open transaction.
    ///
    /// A store that panicked has undone its version, so poisoning is ignored.
    fn lock(&self) -> WriterGuard<'_> {
        fork::lock(|| self.writer.lock())
    }

    /// Locks the writer's state while there is no transaction.
    ///
    /// - Waits for transactions of other threads, and holds neither the lock nor a guard meanwhile. Not to be called in
    ///   a section.
    /// - The first thread that waits writes next, so that a thread with one transaction after the other does not starve
    ///   it.
    /// - Undoes a transaction whose thread does not exist in this process since a `fork`.
    ///
    /// # Errors
    /// `InTransaction`: this thread has a transaction, and would wait for ever.
    #[inline]
    fn lock_alone(&self) -> Result<WriterGuard<'_>, WriteError> {
        let writer = self.lock();
        if writer.turn() == (None, None) { Ok(writer) } else { self.wait_for_transactions(writer) }
    }

    #[cold]
    fn wait_for_transactions<'a>(
        &'a self,
        mut writer: WriterGuard<'a>,
    ) -> Result<WriterGuard<'a>, WriteError> {
        let me = this_thread();
        loop {
            if writer.owner == Some(me) {
                return Err(WriteError::InTransaction);
            }
            if writer.owner.is_some_and(is_lost) {
                writer.undo();
            }
            let next = writer.next.filter(|&next| !is_lost(next)).unwrap_or(me);
            if writer.owner.is_none() && next == me {
                writer.next = None;
                return Ok(writer);
            }
            writer.next = Some(next);
            let seen = writer.turn();
            drop(writer);
            wait_while(|| self.lock().turn() == seen);
            writer = self.lock();
        }
    }

    /// The number of entries, as readers see them. Waits for a running store, never for an open transaction; the same
    /// holds for the methods below.
    ///
    /// Cost: constant, under the writer's lock.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.lock().tree.published().len
    }

    /// Whether there are no entries.
    ///
    /// Cost: constant, under the writer's lock.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Levels of the tree: 0 if it has no nodes.
    ///
    /// Cost: constant, under the writer's lock.
    #[must_use]
    pub fn height(&self) -> usize {
        self.lock().tree.published().height
    }

    /// Nodes in use: leaves of 256 bytes and inner nodes of 320. Includes those that wait for readers and those of an
    /// open transaction.
    ///
    /// Cost: constant, under the writer's lock.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.lock().tree.nodes().nodes()
    }

    /// Bytes of memory held for nodes.
    ///
    /// Cost: constant, under the writer's lock.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.lock().tree.bytes()
    }

    /// Limits the leaves and inner nodes in use, including those that wait for readers. A store that needs more fails.
    ///
    /// Cost: constant, under the writer's lock.
    pub fn set_node_limit(&self, leaves: usize, inners: usize) {
        self.lock().tree.set_limit(leaves, inners);
    }

    /// The nodes and values that wait for readers, and those that have been reclaimed so far.
    ///
    /// Cost: constant, under the writer's lock.
    #[must_use]
    pub fn backlog(&self) -> BacklogStats {
        self.lock().stats()
    }

    /// Checks every invariant of the tree from scratch, and those of an open transaction's version.
    ///
    /// Cost: O(n) for n entries, under the writer's lock.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn validate(&self) -> Result<(), Broken> {
        self.lock().validate()
    }
}

impl<E: StoredValue> Default for MapleTree<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: StoredValue> fmt::Debug for MapleTree<E>
where
    for<'a> E::Ref<'a>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.read().iter()).finish()
    }
}
