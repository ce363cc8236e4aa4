//! Checks the tree's shape from scratch.

use super::{FANOUT, Key, LeafNode, MAX_HEIGHT, Step, Tree};
use freehold_units::pool::NodeId;
use freehold_units::{Broken, check};

/// The expectation for a leaf: its number and the range of its keys, from `low` up to but excluding `end`.
pub(crate) struct Whole<K> {
    pub(crate) leaf: NodeId,
    /// The leaf's separator; `None` for the first leaf.
    pub(crate) low: Option<K>,
    pub(crate) end: Option<K>,
}

impl<L: LeafNode, K: Key> Tree<L, K> {
    /// Checks K7, K8 and K9. `check_leaf` checks each leaf, in order. Cost: linear.
    pub(crate) fn validate(
        &self,
        address: impl Fn(K) -> u64,
        check_leaf: &mut impl FnMut(Whole<K>) -> Result<(), Broken>,
    ) -> Result<(), Broken> {
        check(self.height < MAX_HEIGHT, "K8", "a tree is not higher than its paths", 0)?;
        let mut seen = Seen { leaves: 0, inners: 0 };
        let whole = Whole { leaf: self.root, low: None, end: None };
        self.check_below(self.height, whole, &mut seen, &address, check_leaf)?;
        let leaves = self.leaves.vacant().count();
        check(self.leaves.made() == seen.leaves + leaves, "K7", "a leaf is in the tree once, or vacant", 0)?;
        let inners = self.inners.vacant().count();
        check(
            self.inners.made() == seen.inners + inners,
            "K7",
            "an inner node is in the tree once, or vacant",
            0,
        )
    }

    fn check_below(
        &self,
        height: usize,
        whole: Whole<K>,
        seen: &mut Seen,
        address: &impl Fn(K) -> u64,
        check_leaf: &mut impl FnMut(Whole<K>) -> Result<(), Broken>,
    ) -> Result<(), Broken> {
        let Some(below) = height.checked_sub(1) else {
            seen.leaves += 1;
            return check_leaf(whole);
        };
        seen.inners += 1;
        let inner = &self.inners[whole.leaf];
        let len = inner.len();
        let at = whole.low.map_or(0, address);
        check(
            len > usize::from(height == self.height),
            "K8",
            "no inner node is empty, no root has one child",
            at,
        )?;
        let vacant = (len..FANOUT).all(|slot| inner.low(slot) == K::MAX);
        check(vacant, "K8", "no key is above the separators of slots without child", at)?;
        check(inner.has_its_firsts(), "K8", "separators of groups are those of their first children", at)?;
        for slot in 0..len {
            let low = if slot == 0 { whole.low } else { Some(inner.low(slot)) };
            let exact = slot > 0 || whole.low.is_none_or(|low| low == inner.low(0));
            check(exact, "K8", "a node's separator is that of its first child", at)?;
            let end = if slot + 1 < len { Some(inner.low(slot + 1)) } else { whole.end };
            let ascend = end.is_none_or(|end| low.is_none_or(|low| low < end));
            check(ascend, "K8", "separators ascend", low.map_or(0, address))?;
            let child = Whole { leaf: inner.child(slot), low, end };
            self.check_below(below, child, seen, address, check_leaf)?;
            for class in 0..self.classes.masks().len() {
                let most = self.most_below(Step::new(whole.leaf, slot), below, class);
                let holds = most <= inner.row(class).bound(slot);
                check(holds, "K9", "nothing below a child exceeds its bounds", at)?;
            }
        }
        Ok(())
    }
}

/// The nodes visited so far.
struct Seen {
    leaves: usize,
    inners: usize,
}
