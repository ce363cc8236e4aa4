//! Checks bounds and cursors against the maps, run by run.

use super::index::{ALIGNMENTS, Wide};
use super::{FirstFit, MOST_BITS};
use crate::Broken;
use crate::geometry::{BLOCK_BITS, align_up, base_of, block_of};
use crate::object_map::WORD;
use crate::placement::Chunks;
use core::ops::Range;
use freehold_units::check;

/// Checks P7 to P9 and P15 for a position of a chunk.
pub(super) fn validate(chunks: &Chunks<FirstFit>, index: u32) -> Result<(), Broken> {
    let (chunk, known) = (chunks.at(index), &chunks.index);
    let at = index as usize;
    check(at < known.most.len(), "P7", "every position has bounds", 0)?;
    let [empty, bare] = *known.pages.row(at);
    let rows = [&known.most, &known.wide[0].longest, &known.wide[1].longest];
    let right = rows.iter().all(|rows| rows.is_right_above(at)) && known.pages.is_right_above(at);
    check(right, "P15", "a row above others is the highest of them", 0)?;
    let most = known.most.row(at)[0];
    check(chunk.empty_pages as i16 == empty, "P9", "the empty pages of a chunk are counted", 0)?;
    let unpopulated = chunk.pages.count() - chunk.populated_pages;
    check(unpopulated as i16 == bare, "P9", "the pages without memory of a chunk are counted", 0)?;
    let bounded = chunk.hints.len() as u32 == chunks.bits / BLOCK_BITS;
    check(bounded, "P7", "every page of a chunk has a bound", 0)?;
    for (page, &longest) in (0..).zip(&chunk.hints) {
        let bit = base_of(page).into();
        check(longest <= most, "P7", "no page's bound is more than its chunk's", bit)?;
        let right = chunk.pages.is_begun(page) || longest == 0;
        check(right, "P7", "the bound of a page without objects is 0", bit)?;
    }
    if !chunk.is_live() {
        return check(
            rows.map(|rows| *rows.row(at)) == [[0; ALIGNMENTS]; 3],
            "P7",
            "the bounds of a vacant position are 0",
            0,
        );
    }
    let (mut at, bits) = (0, chunks.bits);
    while at < bits {
        let start = chunk.used.next_clear(at..bits);
        at = chunk.used.next_set(start..bits);
        validate_wide(&known.wide[0], index, start..at)?;
        let mut populated = start;
        while populated < at {
            let end = chunk.pages.next_bare(block_of(populated)..block_of(at - 1) + 1);
            validate_wide(&known.wide[1], index, populated..base_of(end).clamp(populated, at))?;
            populated = chunk.behind_bare_pages(&(populated..at));
        }
        validate_run(chunks, index, start..at)?;
    }
    Ok(())
}

/// Checks a free run against the bounds of its chunk's runs of more than a page.
fn validate_wide(wide: &Wide, chunk: u32, run: Range<u32>) -> Result<(), Broken> {
    let length = (run.end - run.start).min(MOST_BITS);
    let bounds = (0..).zip(wide.longest.row(chunk as usize));
    let fits = |shift: u32| run.end.saturating_sub(align_up(run.start, 1 << shift.min(10))).min(MOST_BITS);
    let right =
        bounds.into_iter().all(|(shift, &bound)| fits(shift) <= BLOCK_BITS || fits(shift) as i16 <= bound);
    check(right, "P7", "a chunk's run is no longer than its bound", run.start.into())?;
    let above = length <= BLOCK_BITS || block_of(run.start) as i16 >= wide.from[chunk as usize];
    check(above, "P7", "no run of more than a page starts below a chunk's first", run.start.into())
}

/// Checks a free run, page by page. Pages without objects split it.
fn validate_run(chunks: &Chunks<FirstFit>, index: u32, run: Range<u32>) -> Result<(), Broken> {
    let chunk = chunks.at(index);
    let mut at = run.start;
    while at < run.end {
        let (page, start) = (block_of(at), at);
        at = base_of(page + 1).min(run.end);
        if !chunk.pages.is_begun(page) {
            continue;
        }
        // A run continues into the next page if that has objects.
        let next = chunk.pages.is_begun(page + 1);
        let end = if next { base_of(page + 2).min(run.end) } else { at };
        let length = (end - start).min(BLOCK_BITS);
        let right = length as i16 <= chunk.hints[page as usize];
        check(right, "P7", "no run that starts in a page is longer than its bound", start.into())?;
        for (shift, &bound) in (0..).zip(chunks.index.most.row(index as usize)) {
            let place = align_up(start, 1 << u32::min(shift, 10));
            let right = place >= at || (end - place).min(BLOCK_BITS) as i16 <= bound;
            check(right, "P7", "no aligned part of a run is longer than its chunk's bound", place.into())?;
        }
        for key in chunks.index.keys.all() {
            let place = align_up(start, key.align);
            let searched = chunks.index.base(index) + place / WORD < key.from;
            let missed = searched && place < at && place + key.bits <= end;
            check(!missed, "P8", "below a key's cursor, no page has a place for it", place.into())?;
        }
    }
    Ok(())
}
