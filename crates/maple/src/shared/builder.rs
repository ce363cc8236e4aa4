//! Choices for a new map.

use super::arena::Arena;
use super::atomic::{AtomicUsize, Mutex};
use super::view::PublishedRoot;
use super::writer::Writer;
use super::{MapleTree, Published, Reclaim};
use crate::entry::StoredValue;
use crate::node::{NodeLimits, Nodes};
use crate::tree::Tree;
use alloc::sync::Arc;
use core::fmt;
use core::marker::PhantomData;
use core::sync::atomic::AtomicBool;
use freehold_rcu::{Domain, DomainRef};

/// The most bytes that a record takes which waits for readers: an inner node, and the record itself.
const RECORD_BYTES: usize = 336;

/// Makes a [`MapleTree`] with other choices than those of [`MapleTree::new`].
///
/// ```
/// use freehold_maple::MapleTree;
/// use freehold_maple::maple_tree::{Domain, Reclaim};
/// use std::sync::Arc;
///
/// let bus: MapleTree<Arc<String>> =
///     MapleTree::builder().domain(Domain::named("bus")).reclaim(Reclaim::Prompt).backlog_limit(1 << 20).build();
/// let disk = Arc::new("disk".to_owned());
/// bus.store(0..4096, Arc::clone(&disk))?;
/// bus.erase(0)?;
/// assert_eq!(Arc::strong_count(&disk), 1, "nobody reads, so the map has dropped its own");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct Builder<E: StoredValue> {
    domain: Option<Arc<Domain>>,
    reclaim: Reclaim,
    backlog_limit: usize,
    limits: NodeLimits,
    entries: PhantomData<fn() -> E>,
}

impl<E: StoredValue> MapleTree<E> {
    /// The bytes that may wait for readers in a map of [`new`](Self::new).
    pub const BACKLOG_LIMIT: usize = RECORD_BYTES * if cfg!(shuttle) { 24 } else { 8192 };

    /// Choices for a new map.
    ///
    /// Cost: constant.
    pub fn builder() -> Builder<E> {
        Builder {
            domain: None,
            reclaim: Reclaim::default(),
            backlog_limit: Self::BACKLOG_LIMIT,
            limits: NodeLimits::FULL,
            entries: PhantomData,
        }
    }
}

impl<E: StoredValue> Builder<E> {
    /// Readers of a domain other than the [global](Domain::global) one, of the map's own or shared with other maps. A
    /// reader of one domain holds back nothing in another.
    ///
    /// Cost: constant; an allocation for a domain that is not shared yet.
    pub fn domain(mut self, domain: impl Into<Arc<Domain>>) -> Self {
        self.domain = Some(domain.into());
        self
    }

    /// When removed values are dropped: in batches, unless this says otherwise.
    ///
    /// Cost: constant.
    pub fn reclaim(mut self, reclaim: Reclaim) -> Self {
        self.reclaim = reclaim;
        self
    }

    /// The bytes that may wait for readers: [`BACKLOG_LIMIT`](MapleTree::BACKLOG_LIMIT), 2.6 MiB, unless this says
    /// otherwise. Beyond it, changes are refused; below 336 bytes, all of them.
    ///
    /// Each removed node or value counts with 336 bytes, the most that a node takes, so by default 8,192 of them may wait.
    /// [`WriteError::Readers`](crate::maple_tree::WriteError::Readers) and the statistics count these. What a value owns comes on top.
    ///
    /// Cost: constant.
    pub fn backlog_limit(mut self, bytes: usize) -> Self {
        self.backlog_limit = bytes;
        self
    }

    /// Uses only a part of the nodes' slots. For tests.
    #[doc(hidden)]
    pub fn nodes(mut self, nodes: Nodes) -> Self {
        self.limits = NodeLimits::of(nodes);
        self
    }

    /// The map, which is empty.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn build(self) -> MapleTree<E> {
        let Self { domain, reclaim, backlog_limit, limits, .. } = self;
        let (leaves, inners) = (Arena::new(), Arena::new());
        let of_backlog = match &domain {
            Some(domain) => DomainRef::from(Arc::clone(domain)),
            None => DomainRef::from(Domain::global()),
        };
        let published = Published {
            root: PublishedRoot::new(),
            leaves: leaves.chunks(),
            inners: inners.chunks(),
            domain,
        };
        let tree = Tree::of_pools(limits, leaves, inners);
        let writer = Writer::new(tree, of_backlog, backlog_limit / RECORD_BYTES, reclaim);
        MapleTree {
            published,
            moments: AtomicUsize::new(0),
            has_leftovers: AtomicBool::new(false),
            writer: Mutex::new(writer),
            entries: PhantomData,
        }
    }
}

impl<E: StoredValue> fmt::Debug for Builder<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { domain, reclaim, backlog_limit, .. } = self;
        f.debug_struct("Builder")
            .field("domain", domain)
            .field("reclaim", reclaim)
            .field("backlog_limit", backlog_limit)
            .finish_non_exhaustive()
    }
}
