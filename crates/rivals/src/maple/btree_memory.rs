//! How much memory a `BTreeMap` of the standard library holds, which it does not tell: counted by where its keys lie.
//!
//! ```text
//!   keys in order:   leaf 0        inner   leaf 1          inner   leaf 2
//!                    k k k k k k   k       k k k k k k k   k       k k ...
//!                    side by side          side by side
//! ```
//!
//! The keys of a node lie in one array. Going through a map in order, keys that lie side by side are a leaf's; between
//! two leaves comes one key of an inner node. Inner keys that lie side by side are of one inner node. A test holds the
//! sum against what was allocated.

/// Keys in a node, at most.
const CAPACITY: usize = 11;

/// Bytes of the nodes of a map with these keys, which come in ascending order.
pub(super) fn btree_bytes<'a, K: 'a, V>(keys: impl Iterator<Item = &'a K>) -> usize {
    let (leaves, inner) = btree_nodes(keys);
    // Keys, values, the parent, two bytes for the place in the parent and two for the number of keys.
    let leaf = CAPACITY * (size_of::<K>() + size_of::<V>()) + size_of::<usize>() + 4;
    let leaf = leaf.next_multiple_of(align_of::<usize>());
    let children = (CAPACITY + 1) * size_of::<usize>();
    (leaves + inner).saturating_mul(leaf).saturating_add(inner.saturating_mul(children))
}

/// Leaves and inner nodes.
fn btree_nodes<'a, K: 'a>(keys: impl Iterator<Item = &'a K>) -> (usize, usize) {
    let mut runs = 0_usize;
    let mut inner = Vec::new();
    let mut expected = None;
    for key in keys {
        let at = std::ptr::from_ref(key).addr();
        if expected != Some(at) {
            runs += 1;
            if runs.is_multiple_of(2) {
                inner.push(at);
            }
        }
        // After a key of an inner node comes the first of a leaf, wherever that lies.
        let in_leaf = !runs.is_multiple_of(2);
        expected = in_leaf.then_some(at.wrapping_add(size_of::<K>()));
    }
    inner.sort_unstable();
    let side_by_side = |pair: &[usize; 2]| pair[0].wrapping_add(size_of::<K>()) == pair[1];
    let joined = inner.array_windows().filter(|pair| side_by_side(pair)).count();
    (runs.div_ceil(2), inner.len() - joined)
}
