//! The choice between prompt and batched reclamation. `drops.rs` carries it out.

/// When the values that a [`MapleTree`](crate::MapleTree) removes are dropped.
///
/// | | `Prompt` | `Batched` |
/// |---|---|---|
/// | no reader is inside | before the call returns that removes the value | by a change some hundred changes later |
/// | a reader is inside | by the first change that begins after it has left | the same |
/// | price of a change that removes a value | a barrier: some microseconds, or a fence in a fenced domain | nothing |
/// | price of any other change | while values wait: a scan of the readers, and a barrier once the oldest has left | nothing |
///
/// While readers stay, what up to eight such changes removed is kept apart. What later ones remove waits together, for
/// the readers that were inside at the last of them.
///
/// With either, [`reclaim`](crate::MapleTree::reclaim) drops what can be dropped now, and
/// [`synchronize`](crate::MapleTree::synchronize) waits for the readers first. Nodes are reused by the batch under both: an
/// idle map keeps up to some 512 replaced ones, or as many as its last change replaced, until it is asked. Each takes 336
/// bytes at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reclaim {
    /// For values that own something that others wait for: a device, a descriptor, a lock.
    Prompt,
    /// For values that are memory alone.
    #[default]
    Batched,
}
