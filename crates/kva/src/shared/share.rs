//! A space with one owner becomes a shared one, with all that it has, and the other way round.

use super::{SharedSpace, places_of, show};
use crate::AddressSpace;
use crate::atomic::Mutex;
use freehold_maple::MapleTree;
use freehold_maple::maple_tree::{Builder, Domain, Reclaim, WriteError};
use freehold_units::Rejected;
use std::sync::{Arc, PoisonError};

impl<V: ?Sized> SharedSpace<V> {
    /// The choices of a new space's tree of readers: a domain of its own, and prompt reclamation.
    ///
    /// Cost: constant.
    pub fn readers() -> Builder<Arc<V>> {
        MapleTree::builder().domain(Domain::named("a shared space")).reclaim(Reclaim::Prompt)
    }

    /// Shares a space with all its regions, values, guards, moves and sub-spaces. `readers` makes the tree of readers:
    /// [`readers`](Self::readers), or other choices.
    ///
    /// Cost: O(n log n). The tree is filled before anybody can read it, so readers of its domain hold nothing back.
    ///
    /// # Errors
    /// Returns the space: the tree of readers has no memory, or its limit of what may wait for readers is too low for a
    /// change.
    #[allow(clippy::result_large_err, reason = "the space comes back whole")]
    pub fn share(
        space: AddressSpace<Arc<V>>,
        readers: Builder<Arc<V>>,
    ) -> Result<Self, Rejected<AddressSpace<Arc<V>>, WriteError>> {
        let busy = readers.build();
        match fill(&busy, &space) {
            Ok(()) => Ok(Self { core: Mutex::new(space), busy }),
            Err(cause) => Err(Rejected { value: space, cause }),
        }
    }

    /// The space, for one owner again. Values that readers held back are dropped.
    ///
    /// Cost: O(n) for n regions.
    #[must_use]
    pub fn into_space(self) -> AddressSpace<Arc<V>> {
        self.core.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V: ?Sized> TryFrom<AddressSpace<Arc<V>>> for SharedSpace<V> {
    type Error = Rejected<AddressSpace<Arc<V>>, WriteError>;

    /// As [`SharedSpace::share`] with [`SharedSpace::readers`].
    fn try_from(space: AddressSpace<Arc<V>>) -> Result<Self, Self::Error> {
        Self::share(space, Self::readers())
    }
}

/// Puts the regions of a space into an empty tree of readers, all at once.
fn fill<V: ?Sized>(busy: &MapleTree<Arc<V>>, space: &AddressSpace<Arc<V>>) -> Result<(), WriteError> {
    let mut tree = busy.transaction();
    for region in space.regions() {
        places_of(&region).try_for_each(|place| show(&mut tree, place, region.value()))?;
    }
    drop(tree.commit());
    Ok(())
}
