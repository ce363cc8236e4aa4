//! The two longest free runs of a part of a block, word by word.
//!
//! ```text
//!   free             1 1 1 0 1 1 0 1      a run of 1 or more starts here
//!   free & free>>1   1 1 0 0 1 0 0 0      of 2 or more
//!   ... & ...>>1     1 0 0 0 0 0 0 0      of 3 or more
//! ```
//!
//! So a word is asked for all of its runs at once whether one of them is longer than the second longest until then;
//! mostly none is. Runs that reach a word's edge are joined with what is in the next.
//!
//! Cost: of each word that is neither free nor used as a whole, some twenty instructions; more where a run is noted.

use super::record::{Run, Runs};
use crate::bitmap::{WORD, from_mask, up_to_mask};
use crate::object_map::ObjectMap;
use core::ops::Range;
use freehold_units::{Probe, Work};

/// Multiples of 16, 8, 4, 2 and 1 bits: where objects ask to start.
const EVEN: [u64; 5] =
    [0x0001_0001_0001_0001, 0x0101_0101_0101_0101, 0x1111_1111_1111_1111, 0x5555_5555_5555_5555, !0];

/// The best aligned of the longest free runs in `part`, bits of the block, and the longest other. It is known that none
/// is longer than `most`: two of that length, one as well aligned, are not searched further.
pub(super) fn longest(
    used: &ObjectMap,
    block: u32,
    part: Range<u32>,
    most: Run,
    probe: &mut impl Probe,
) -> Runs {
    let mut found = Found(Runs::NONE);
    if part.is_empty() {
        return found.0;
    }
    let mut words = used.words_of(block).map(|used| !used);
    let (first, last) = ((part.start / WORD) as usize, ((part.end - 1) / WORD) as usize);
    words[first] &= from_mask(part.start);
    words[last] &= up_to_mask(part.end - 1);
    // Length of the run at the end of the words until now.
    let mut edge = 0;
    let mut base = first as u32 * WORD;
    for &free in &words[first..=last] {
        let at = base;
        base += WORD;
        if free == 0 && edge == 0 {
            continue;
        }
        if free == !0 {
            edge += WORD;
            continue;
        }
        let (low, high) = (free.trailing_ones(), free.leading_ones());
        found.note(at - edge, edge + low);
        edge = high;
        found.note_inside(at, free & !0 << low & !0 >> high);
        if found.0.second.len() == most.len() && !most.beats(found.0.best) {
            probe.count(Work::BitScanned, u64::from(base - part.start));
            return found.0;
        }
    }
    probe.count(Work::BitScanned, u64::from(base - part.start));
    found.note(base - edge, edge);
    found.0
}

/// The longest runs until now.
struct Found(Runs);

impl Found {
    #[inline]
    fn note(&mut self, start: u32, len: u32) {
        if len > self.0.rest || len == self.0.best.len() {
            self.0 = self.0.with(Run::new(start, len));
        }
    }

    /// Hears of the runs of a word that do not reach its edges.
    #[inline]
    fn note_inside(&mut self, base: u32, mut free: u64) {
        while free != 0 {
            let start = self.next(free);
            if start == WORD {
                return;
            }
            let len = (free >> start).trailing_ones();
            self.note(base + start, len);
            free &= !(!(!0 << len) << start);
        }
    }

    /// The start of a run that is to be noted: one longer than the second, or one as long as the best and better
    /// aligned.
    #[inline]
    fn next(&self, free: u64) -> u32 {
        let longer = starts(free, self.0.rest + 1);
        if longer != 0 || self.0.rest < self.0.best.len() {
            return longer.trailing_zeros();
        }
        let alike = starts(free, self.0.rest);
        let better = EVEN.get(..EVEN.len() - 1 - self.0.best.evenness() as usize).and_then(<[u64]>::last);
        better.map_or(WORD, |even| (alike & even).trailing_zeros())
    }
}

/// Where in the word a run of so many bits, at least 1, starts.
#[inline]
fn starts(free: u64, len: u32) -> u64 {
    if len >= WORD {
        return 0;
    }
    let (mut starts, mut known) = (free, 1);
    while known < len {
        let more = known.min(len - known);
        starts &= starts >> more;
        known += more;
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitmap::Bits as _;
    use crate::geometry::{BLOCK_BITS, base_of};
    use proptest::prelude::*;
    use std::vec::Vec;

    /// The runs of a part of a block, bit by bit.
    fn runs_of(used: &ObjectMap, block: u32, part: &Range<u32>) -> Vec<Run> {
        let mut runs = Vec::new();
        let mut start = part.start;
        for bit in part.clone() {
            if used.get(base_of(block) + bit) {
                runs.push(Run::new(start, bit - start));
                start = bit + 1;
            }
        }
        runs.push(Run::new(start, part.end - start));
        runs.retain(|run| !run.is_none());
        runs
    }

    proptest! {
        #[test]
        fn the_best_and_the_second_are_those_of_all_runs(
            holes in prop::collection::vec((0u32..2048, 1u32..40), 0..200),
            stretch in 1u32..8,
            low in 0u32..=BLOCK_BITS,
            high in 0u32..=BLOCK_BITS,
        ) {
            let mut used = ObjectMap::new(2048).unwrap();
            let free = |bit: &u32| holes.iter().any(|(start, len)| (*start..start + len * stretch).contains(bit));
            for bit in (0..2048).filter(|bit| !free(bit)) {
                used.take(&(bit..bit + 1));
            }
            for block in 0..2 {
                let part = low.min(high)..low.max(high);
                let runs = runs_of(&used, block, &part);
                let Runs { best, second, rest } = longest(&used, block, part, Run::LONGEST, &mut ());
                prop_assert!(best.is_none() || runs.contains(&best));
                prop_assert!(!runs.iter().any(|run| run.beats(best)));
                let others = runs.iter().filter(|run| **run != best).map(|run| run.len());
                prop_assert_eq!(rest, others.max().unwrap_or(0));
                prop_assert!(second != best || best.is_none());
                prop_assert!(second.len() == rest && (second.is_none() || runs.contains(&second)));
            }
        }
    }
}
