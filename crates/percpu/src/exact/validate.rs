//! The hints held against the maps, run by run.

use super::Hints;
use super::rooms::capped;
use crate::Broken;
use crate::bitmap::Bits as _;
use crate::chunk::Chunk;
use crate::error::check;
use crate::geometry::{BLOCK_BITS, base_of};
use crate::object_map::ObjectMap;

/// Checks P7 and P8: of the hints as they are, that they promise no more than there is; of those that they become
/// when the chunk is settled, everything.
pub(super) fn validate(chunk: &Chunk<Hints>) -> Result<(), Broken> {
    let (mut hints, used) = (chunk.hints.clone(), &chunk.used);
    hints.note_placed(used, &mut ());
    for (block, record) in (0..).zip(&hints.blocks) {
        let (base, best) = (base_of(block), record.best);
        let start = base + best.start();
        let free = used.next_set(start..start + best.len()) == start + best.len();
        check(free, "P7", "a block's best run is free", start)?;
        let count = used.count(block);
        let fewer = if hints.is_settled() { record.used == count } else { record.used >= count };
        check(fewer, "P7", "a record knows of which used bits it is", base)?;
    }
    hints.settle(used, &mut ());
    validate_settled(&hints, used)
}

fn validate_settled(hints: &Hints, used: &ObjectMap) -> Result<(), Broken> {
    let bits = base_of(hints.count());
    for (index, block) in (0..).zip(&hints.blocks) {
        let (base, end, best) = (base_of(index), base_of(index + 1), block.best);
        let seen = hints.rooms.get(index);
        check(
            seen == (capped(best.len()), best.start() as i16),
            "P7",
            "searches see a block's best run",
            base,
        )?;
        let left = used.next_set(base..end) - base;
        check(u32::from(block.left) == left, "P7", "left is the free run at the left edge", base)?;
        let right = end - used.after_last_set(base..end);
        check(u32::from(block.right) == right, "P7", "right is the free run at the right edge", base)?;
        let free = hints.free_blocks.get(index);
        check(free == (left == BLOCK_BITS), "P7", "free blocks are marked", base)?;
        let (mut longest, mut second, mut found) = (0, 0, best.is_none());
        let mut at = used.next_set(base..end);
        // A run that comes from the block before does not start here.
        if base == 0 || used.get(base - 1) {
            at = base;
        }
        while at < end {
            let start = used.next_clear(at..end);
            if start == end {
                break;
            }
            at = used.next_set(start..bits);
            let len = at - start;
            if start == base + best.start() {
                found |= len == best.len();
            } else {
                second = second.max(len);
            }
            longest = longest.max(len);
        }
        check(found, "P7", "a block's best run is one that starts in it", base + best.start())?;
        check(best.len() == longest, "P7", "a block's best run is the longest that starts in it", base)?;
        check(block.rest >= second, "P7", "rest is no less than any other run", base)?;
    }
    validate_chunk(hints)
}

fn validate_chunk(hints: &Hints) -> Result<(), Broken> {
    let longest = hints.longest;
    let lens = || (0..).zip(&hints.blocks).map(|(block, record)| (block, record.best.len()));
    let most = lens().map(|(_, len)| len).max().unwrap_or(0);
    check(longest.len == most, "P8", "a chunk's longest run is the longest of its blocks'", 0)?;
    let at = base_of(longest.block);
    check(hints.blocks[longest.block as usize].best.len() == most, "P8", "it starts in its block", at)?;
    let others = lens().filter(|&(block, _)| block != longest.block).map(|(_, len)| len).max().unwrap_or(0);
    check(longest.rest >= others, "P8", "rest is no less than any other block's best run", at)?;
    let inside = |block| (hints.first_block..hints.end_block).contains(&block);
    let outside = lens().find(|&(block, len)| len > 0 && !inside(block));
    check(outside.is_none(), "P8", "runs start in blocks within the bounds", base_of(hints.first_block))
}
