//! The shared map: any thread reads without a lock while one at a time writes.
//!
//! ```text
//!   readers   guard, root --> | inner | --link--> leaf --> word
//!   writer    lock, plan --> copies of what changes --> one store of the lowest link above --> retire what they replace
//!                        \-> of a store over one entry, whole: one store of its word --------> retire the word before
//! ```
//!
//! A store over one entry, whole, is one of its word. Any other changes copies, in memory whose nodes never move (`arena.rs`), and
//! has them take the originals' place by one store of a link or of the root (`tree/publish.rs`). What it replaces waits until no
//! reader can reach it ([`freehold_rcu`]), and is reused, or dropped, by later stores. As long as somebody has a snapshot, the link
//! is the root.
//!
//! # Why a look-up is right
//! Linearizability. A reachable node never changes its index range: only its links and the words of its entries change, a
//! replacement child covers the same range, and a leaf that has left the tree keeps its words (M10). So a descent always ends in
//! the leaf that owned the index at some point during the call, and reads a word that this leaf had during the call. A store
//! becomes visible through one link or one word (M12), so a reader that saw part of it and restarts at the root sees all of it.
//!
//! # Invariants
//! M10, M12; chunks never move (M11).

mod arena;
mod atomic;
mod read;
#[cfg(all(test, shuttle))]
mod shuttle_tests;
#[cfg(test)]
mod tests;
mod transaction;
mod view;
mod words;
mod write;
mod writer;

pub use read::{Entries, Gaps, OwnedReading, Snapshot};
pub use transaction::Transaction;
pub use view::Reading;
pub use words::Reclaimed;

use crate::entry::StoredValue;
use crate::error::WriteError;
use crate::node::{Inner, Leaf, NodeLimits, Nodes};
use crate::tree::Tree;
use alloc::sync::Arc;
use arena::{Arena, Chunks, Shared};
use atomic::{AtomicUsize, Mutex, MutexGuard, this_thread};
use core::fmt;
use core::marker::PhantomData;
use freehold_rcu::fork::{self, Held, is_lost};
use freehold_rcu::{BacklogStats, wait_while};
use freehold_units::Broken;
use view::PublishedRoot;
use writer::Writer;

/// Maps ranges of `u64`, both ends included, to values of one word, for many threads: readers never wait, one writer at a time
/// stores.
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
/// Each look-up sees the map as it is at one moment within the call: every store and every
/// [transaction](Self::transaction) wholly or not at all, and never a range that was not stored. A later one on the same thread
/// sees that moment or a later one.
///
/// An iterator goes from leaf to leaf: each item was so at some moment since it was made, and none at a moment before that of the
/// item before it. Each ends above the one before; one that was stored meanwhile may begin below that one's end. An entry that
/// nobody touches comes once, and who has seen a part of a store sees the rest of it further on. A [`Snapshot`] is the map at one
/// moment, whatever is asked of it.
///
/// # Memory, and what fails
/// A store over exactly one entry replaces its value; any other, a removal too, copies the nodes that it changes. What is replaced
/// is reused or dropped after a grace period, by a later store of which something waits in turn. Readers that stay hold it back:
/// once that are [`BACKLOG`](Self::BACKLOG) nodes and values, stores are refused
/// ([`WriteError::Full`](crate::maple_tree::WriteError::Full)), so that what waits is no more than that and what one store
/// removes. A store over exactly one entry of a value without a drop, like a number, leaves nothing to wait: it is not refused,
/// unless there is a [`Snapshot`]. Readers of one map hold back what others retire. What is refused has changed nothing.
///
/// # Fork
/// A child made by `fork` reads and writes its copy of the map, whatever other threads of the parent were doing. A transaction of
/// such a thread is undone in the child. [`freehold_rcu::fork`] says what else a child may do.
pub struct MapleTree<E: StoredValue> {
    published: Published,
    /// How many moments of it somebody has: changed under the writer's lock, or on dropping.
    moments: AtomicUsize,
    writer: Mutex<Writer>,
    entries: PhantomData<OwnsAndTakes<E>>,
}

/// The map owns values and takes more of them through `&self`, as a `Mutex<E>` does: so it is invariant in `E`.
type OwnsAndTakes<E> = (E, fn(E) -> E);

/// The writer's state, locked in a section that no `fork` falls into.
type WriterGuard<'a> = Held<MutexGuard<'a, Writer>>;

/// What each look-up loads, in cache lines of its own: whatever a store writes beside it, a reader on another CPU would wait for.
#[repr(align(128))]
struct Published {
    /// The published version. The writer stores it with Release; readers load it with Acquire.
    root: PublishedRoot,
    leaves: Arc<Chunks<Leaf>>,
    inners: Arc<Chunks<Inner>>,
}

impl<E: StoredValue> MapleTree<E> {
    /// The most nodes and values that wait for readers, after which stores are refused.
    pub const BACKLOG: usize = if cfg!(shuttle) { 24 } else { 8192 };

    /// An empty map.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limits(NodeLimits::FULL)
    }

    /// An empty map that uses so much of its nodes, for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn with_nodes(nodes: Nodes) -> Self {
        Self::with_limits(NodeLimits::of(nodes))
    }

    fn with_limits(limits: NodeLimits) -> Self {
        let (leaves, inners) = (Arena::new(), Arena::new());
        Self {
            published: Published {
                root: PublishedRoot::new(),
                leaves: leaves.chunks(),
                inners: inners.chunks(),
            },
            moments: AtomicUsize::new(0),
            writer: Mutex::new(Writer::new(Tree::<Shared>::of_pools(limits, leaves, inners), Self::BACKLOG)),
            entries: PhantomData,
        }
    }

    /// The writer's state, for as long as an operation takes. A version that a transaction has made so far may be in it.
    ///
    /// A store that panicked has undone its version, so poisoning is ignored.
    fn lock(&self) -> WriterGuard<'_> {
        fork::lock(|| self.writer.lock())
    }

    /// The writer's state without a transaction. Waits for other threads' transactions; holds neither the lock nor a guard
    /// meanwhile, and is not to be called in a section. The first thread that waits is the next to write, so that threads with
    /// one transaction after the other do not starve it. Undoes a transaction of a thread that this process lacks since a fork.
    ///
    /// # Errors
    /// This thread has a transaction, for which it would wait for ever.
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

    /// How many entries there are, as readers see them. Waits for a running store, never for an open
    /// transaction; the same holds for the methods below.
    ///
    /// Cost: constant, under the writer's lock.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.lock().tree.published().len
    }

    /// Whether there is none.
    ///
    /// Cost: constant, under the writer's lock.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Levels of the tree: 0 without a node.
    ///
    /// Cost: constant, under the writer's lock.
    #[must_use]
    pub fn height(&self) -> usize {
        self.lock().tree.published().height
    }

    /// Nodes in use, leaves of 256 bytes and inner nodes of 320, with those that wait for readers and those of an open transaction.
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

    /// From now on has no more than so many leaves and inner nodes, those that wait for readers included; a store that takes
    /// more fails.
    ///
    /// Cost: constant, under the writer's lock.
    pub fn set_node_limit(&self, leaves: usize, inners: usize) {
        self.lock().tree.set_limit(leaves, inners);
    }

    /// What waits for readers, and what was reclaimed so far.
    ///
    /// Cost: constant, under the writer's lock.
    #[must_use]
    pub fn backlog(&self) -> BacklogStats {
        self.lock().stats()
    }

    /// Checks every invariant of the tree from scratch, and of an open transaction's version.
    ///
    /// Cost: O(n) for n entries, under the writer's lock.
    ///
    /// # Errors
    /// The first that does not hold.
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
