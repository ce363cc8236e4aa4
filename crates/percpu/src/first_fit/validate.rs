//! Checks bounds and cursors against the maps, run by run.

use super::index::Wide;
use super::{FirstFit, MOST_BITS};
use crate::Broken;
use crate::chunks::Chunks;
use crate::geometry::{BLOCK_BITS, align_up, base_of, block_of};
use crate::object_map::WORD;
use core::ops::Range;
use freehold_units::check;

/// Checks P7 to P9 for a position of a chunk.
pub(super) fn validate(chunks: &Chunks<FirstFit>, index: u32) -> Result<(), Broken> {
    let (chunk, known) = (chunks.at(index), &chunks.index);
    let row = [&known.most, &known.wide[0].longest, &known.wide[1].longest, &known.empty, &known.bare];
    // A row that is missing fails each check that reads it.
    let [most, wide, ready, empty, bare] =
        row.map(|column| column.get(index as usize).copied().unwrap_or(-1));
    check(chunk.empty_pages as i16 == empty, "P9", "the empty pages of a chunk are counted", 0)?;
    let unpopulated = chunk.pages.count() - chunk.populated_pages;
    check(unpopulated as i16 == bare, "P9", "the pages without memory of a chunk are counted", 0)?;
    let right = (empty == 0 || index >= known.empty_from) && (bare == 0 || index >= known.bare_from);
    check(right, "P9", "no chunk below the first with pages without objects has any", 0)?;
    let bounded = chunk.hints.len() as u32 == chunks.bits / BLOCK_BITS;
    check(bounded, "P7", "every page of a chunk has a bound", 0)?;
    for (page, &longest) in (0..).zip(&chunk.hints) {
        let bit = base_of(page).into();
        check(longest <= most, "P7", "no page's bound is more than its chunk's", bit)?;
        let right = chunk.pages.is_begun(page) || longest == 0;
        check(right, "P7", "the bound of a page without objects is 0", bit)?;
    }
    if !chunk.is_live() {
        return check([most, wide, ready] == [0; 3], "P7", "the bounds of a vacant position are 0", 0);
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
    let (length, bound) = ((run.end - run.start).min(MOST_BITS), wide.longest[chunk as usize]);
    let right = length <= BLOCK_BITS || length as i16 <= bound;
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
        for key in chunks.index.keys.all() {
            let place = align_up(start, key.align);
            let searched = chunks.index.base(index) + place / WORD < key.from
                || chunks.index.keys.missed[index as usize] & key.bit != 0;
            let missed = searched && place < at && place + key.bits <= end;
            check(
                !missed,
                "P8",
                "below a key's cursor, and in a chunk that it missed, no page has a place for it",
                place.into(),
            )?;
        }
    }
    Ok(())
}
