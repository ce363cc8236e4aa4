//! Whether there was a place for a request that was refused, or that had a chunk made for it: told from the live objects and
//! the pages with memory alone, as answers and the memory behind the chunks tell them. Cost: a walk over the live objects
//! of chunks that have bytes enough, for each refusal and each new chunk.

use super::PAGE_BYTES;
use freehold_trace::percpu::{Answer, Op, PageMap, Session};
use std::collections::{BTreeMap, BTreeSet};
use std::iter::{once, successors};

/// Ends of live objects, by chunk and start.
pub(super) type Taken = BTreeMap<(u32, u64), u64>;

/// Start and end of each live object of a chunk, ascending.
pub(super) fn objects_of(taken: &Taken, chunk: u32) -> impl Iterator<Item = (u64, u64)> + Clone {
    taken.range((chunk, 0)..(chunk, u64::MAX)).map(|(&(_, start), &end)| (start, end))
}

/// The units of an engine.
#[derive(Clone, Copy, Debug)]
pub struct Units {
    /// Bytes of one.
    pub bytes: u64,
    /// What sizes are rounded up to and offsets are multiples of, in bytes.
    pub grain_bytes: u64,
    /// Whether the engine tells pages with memory from others, so that it has requests that cannot wait.
    pub knows_pages: bool,
}

/// What is known of chunks and their pages before each operation.
#[derive(Clone, Debug, Default)]
pub(super) struct Rooms {
    /// Requests that a place was missed for.
    pub(super) missed: u64,
    /// Numbers of chunks that ever held an object.
    seen: BTreeSet<u32>,
    /// Every chunk and its pages, if they were looked at.
    pages: Option<PageMap>,
    /// What there was to see when they were: changes of pages, and chunks with a number.
    looked_at: Option<(u64, usize)>,
}

impl Rooms {
    /// Looks at the pages, if they or the chunks' numbers changed.
    pub(super) fn see_pages(&mut self, session: &dyn Session) {
        let now = Some((session.page_changes(), self.seen.len()));
        if self.looked_at != now {
            self.pages = session.page_map();
            self.looked_at = now;
        }
    }

    /// The place that was missed, if any, while `taken` is as it was before.
    pub(super) fn missed(&mut self, units: Units, op: &Op, answer: Answer, taken: &Taken) -> Option<String> {
        let Op::Alloc { size_bytes, align, .. } = *op else { return None };
        let what = match answer {
            Answer::NoRoom => "was refused",
            // A chunk that is there already and never held an object is no new one.
            Answer::At { chunk, .. } if self.seen.insert(chunk) && !self.has_unused() => "had a chunk made",
            _ => return None,
        };
        let refused = answer == Answer::NoRoom;
        // Where nobody looked at pages, as in `stress`, which runs batches, those with live objects are known to have memory.
        let populated = units.knows_pages && (refused || self.pages.is_none());
        let size = size_bytes.next_multiple_of(units.grain_bytes);
        let wanted = (size, align.bytes().max(units.grain_bytes));
        let in_words =
            |chunk: Option<u32>| chunk.map_or("a new chunk".to_owned(), |chunk| format!("chunk {chunk}"));
        let place_in = |chunk: Option<u32>, pages: Option<&[bool]>| {
            let start = place_in(chunk, units.bytes, pages.filter(|_| populated), wanted, taken)?;
            Some(format!("the {op} {what}, though there is room in {} at {start}", in_words(chunk)))
        };
        let place = match &self.pages {
            Some(chunks) => chunks.iter().find_map(|(chunk, pages)| place_in(*chunk, Some(pages))),
            // Chunks with live objects are those there are.
            None => {
                let next = |from| taken.range((from, 0)..).next().map(|(&(chunk, _), _)| chunk);
                let mut chunks = successors(next(0), |&chunk| next(chunk.checked_add(1)?));
                chunks.find_map(|chunk| place_in(Some(chunk), Some(&with_objects(chunk, taken))))
            }
        };
        self.missed += u64::from(place.is_some());
        place
    }

    fn has_unused(&self) -> bool {
        self.pages.iter().flatten().any(|(number, _)| number.is_none())
    }
}

/// The lowest place between the objects of a chunk.
fn place_in(
    chunk: Option<u32>,
    unit_bytes: u64,
    pages: Option<&[bool]>,
    wanted: (u64, u64),
    taken: &Taken,
) -> Option<u64> {
    let objects = chunk.map(|chunk| objects_of(taken, chunk)).into_iter().flatten();
    let ends = objects.clone().map(|(_, end)| end);
    let starts = objects.map(|(start, _)| start).chain([unit_bytes]);
    once(0).chain(ends).zip(starts).find_map(|(from, end)| place_between(from, end, pages, wanted))
}

/// Which pages of a chunk hold a live object or a part of one, up to the last that does.
fn with_objects(chunk: u32, taken: &Taken) -> Vec<bool> {
    let page = |byte: u64| usize::try_from(byte / PAGE_BYTES).unwrap_or(usize::MAX);
    let mut pages = Vec::new();
    for (start, end) in objects_of(taken, chunk) {
        pages.resize(page(start).max(pages.len()), false);
        pages.resize(page(end - 1) + 1, true);
    }
    pages
}

/// The lowest place in free bytes; if there are `pages`, in those that have memory.
fn place_between(from: u64, end: u64, pages: Option<&[bool]>, (size, align): (u64, u64)) -> Option<u64> {
    let mut start = from.next_multiple_of(align);
    while start + size <= end {
        let mut touched = start / PAGE_BYTES..(start + size).div_ceil(PAGE_BYTES);
        let populated = |page: u64| {
            pages.is_none_or(|pages| usize::try_from(page).is_ok_and(|at| pages.get(at) == Some(&true)))
        };
        match touched.rfind(|&page| !populated(page)) {
            None => return Some(start),
            Some(hole) => start = ((hole + 1) * PAGE_BYTES).next_multiple_of(align),
        }
    }
    None
}
