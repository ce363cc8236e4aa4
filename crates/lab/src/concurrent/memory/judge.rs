//! Whether blocks are what they should be. Of who hands them out it knows what the trait says.

use super::held::{Block, Memory};
use crate::concurrent::apart;

/// Blocks that are held at once, and bytes of all of them, at most.
const HELD: usize = 32;
const HELD_BYTES: usize = 8 << 20;

/// Takes blocks, fills each with its own number, gives every other one back and takes zeroed ones for them.
///
/// # Errors
/// A block is refused, lies over another, is not zero where it shall be, or lost what was written.
pub fn check<M: Memory + ?Sized>(memory: &M, len: usize, thread: u32) -> anyhow::Result<()> {
    let take = |zeroed| {
        memory.take(len, zeroed).ok_or_else(|| anyhow::anyhow!("a block of {len} bytes was refused"))
    };
    let count = (HELD_BYTES / len).clamp(2, HELD);
    // No two blocks of all threads have the same number, and none has 0.
    let number = |at: usize| (1 + thread as usize * HELD + at) as u8;
    let mut held = (0..count).map(|_| take(false)).collect::<anyhow::Result<Vec<_>>>()?;
    let fill = |held: &mut [M::Block<'_>]| {
        held.iter_mut().enumerate().for_each(|(at, block)| block.write_every(1, number(at)));
    };
    let holds = |held: &[M::Block<'_>]| {
        let lost = held.iter().enumerate().position(|(at, block)| !block.has_every(1, number(at)));
        anyhow::ensure!(lost.is_none(), "block {lost:?} of {len} bytes lost what was written");
        apart(held.iter().map(|block| (block.address(), len as u64)))
    };
    fill(&mut held);
    holds(&held)?;
    let (kept, freed): (Vec<_>, Vec<_>) = held.into_iter().enumerate().partition(|(at, _)| at % 2 == 0);
    drop(freed);
    let mut held = Vec::new();
    for (at, block) in kept {
        anyhow::ensure!(block.has_every(1, number(at)), "block {at} of {len} bytes lost what was written");
        let zeroed = take(true)?;
        anyhow::ensure!(zeroed.has_every(1, 0), "a block of {len} bytes is not zero");
        held.extend([block, zeroed]);
    }
    fill(&mut held);
    holds(&held)
}
