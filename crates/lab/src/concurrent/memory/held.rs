//! Blocks and who hands them out, as far as a judge and workloads know them.

/// Bytes of a page: between those that are touched.
pub const PAGE: usize = 4096;

/// A block that somebody holds.
pub trait Block {
    /// Of its first byte.
    fn address(&self) -> u64;

    /// Writes to every `step`-th byte, from the first on.
    fn write_every(&mut self, step: usize, value: u8);

    /// Whether every `step`-th byte is that.
    fn has_every(&self, step: usize, value: u8) -> bool;
}

/// Whoever hands out blocks.
pub trait Memory: Sync {
    /// What it hands out.
    type Block<'a>: Block
    where
        Self: 'a;

    /// Takes so many bytes, zeros or anything.
    fn take(&self, len: usize, zeroed: bool) -> Option<Self::Block<'_>>;
}
