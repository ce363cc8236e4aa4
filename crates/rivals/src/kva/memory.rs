//! What standard collections hold, which they do not tell.

/// Bytes of a `BTreeMap` of `len` entries of `entry_bytes` each, estimated: nodes of 11 entries with 16 bytes
/// of their own, two thirds full, and one parent for every eight.
pub(super) fn btreemap_bytes(len: usize, entry_bytes: usize) -> usize {
    let nodes = len.div_ceil(7);
    let inner = nodes.div_ceil(8);
    nodes.saturating_mul(11 * entry_bytes + 16).saturating_add(inner.saturating_mul(11 * entry_bytes + 112))
}
