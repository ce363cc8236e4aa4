//! The hints held against the maps, run by run.

use super::Hints;
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
    let mut promised = 0;
    for (block, record) in (0..).zip(&hints.blocks) {
        let (base, best) = (base_of(block), record.runs.best);
        for run in [best, record.runs.second] {
            let start = base + run.start();
            let free = used.next_set(start..start + run.len()) == start + run.len();
            check(free, "P7", "a block's best and second runs are free", start)?;
            let apart = run.is_none() || start >= promised;
            check(apart, "P7", "no block's runs are another's, too", start)?;
        }
        let (first, last) = if best.start() < record.runs.second.start() {
            (best, record.runs.second)
        } else {
            (record.runs.second, best)
        };
        let apart = first.is_none() || last.is_none() || first.start() + first.len() <= last.start();
        check(apart, "P7", "a block's best and second runs have no bit in common", base)?;
        let ends = [best, record.runs.second].map(|run| base + run.start() + run.len());
        promised = ends.into_iter().fold(promised, u32::max);
        let count = used.count(block);
        let fewer = if hints.is_settled() { record.used == count } else { record.used >= count };
        check(fewer, "P7", "a record knows of which used bits it is", base)?;
    }
    hints.settle(used, chunk.objects, u32::MAX, &mut ());
    validate_settled(&hints, used)
}

fn validate_settled(hints: &Hints, used: &ObjectMap) -> Result<(), Broken> {
    let bits = base_of(hints.count());
    for (index, block) in (0..).zip(&hints.blocks) {
        let (base, end, best) = (base_of(index), base_of(index + 1), block.runs.best);
        check(hints.rooms.agrees(index, best), "P7", "searches see a block's best run", base)?;
        let left = used.next_set(base..end) - base;
        check(u32::from(block.left) == left, "P7", "left is the free run at the left edge", base)?;
        let right = end - used.after_last_set(base..end);
        check(u32::from(block.right) == right, "P7", "right is the free run at the right edge", base)?;
        let free = hints.free_blocks.get(index);
        check(free == (left == BLOCK_BITS), "P7", "free blocks are marked", base)?;
        let (mut longest, mut second, mut found, mut has_second) = (0, 0, best.is_none(), false);
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
                has_second |= block.runs.second.is_at(start - base) && block.runs.second.len() == len;
            }
            longest = longest.max(len);
        }
        check(found, "P7", "a block's best run is one that starts in it", base + best.start())?;
        check(best.len() == longest, "P7", "a block's best run is the longest that starts in it", base)?;
        check(block.runs.rest >= second, "P7", "rest is no less than any other run", base)?;
        let known = block.runs.second.len();
        check(
            known == 0 || (known == second && has_second),
            "P7",
            "a second run is one of the longest others",
            base,
        )?;
    }
    let kept = hints.blocks.iter().all(|block| !block.runs.best.has_room(&hints.refused));
    check(kept, "P8", "what a chunk refused has no room in any block's best run", 0)?;
    let most = hints.blocks.iter().map(|block| block.runs.best.len()).max();
    check(most == Some(hints.longest), "P8", "a chunk's longest run is the longest of its blocks'", 0)
}
