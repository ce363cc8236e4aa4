//! Whether there was a place for a request that was refused, or that had a chunk made for it: told from the live objects and
//! the pages with memory alone, as answers and the memory behind the chunks tell them. Cost: a walk over the live objects
//! of chunks that have bytes enough, for each refusal and each new chunk.

use crate::engine::percpu::{ENGINES, EngineEntry, Session};
use freehold::percpu::{Config, PAGE_BYTES};
use freehold_trace::percpu::{Answer, Op, PageMap};
use std::collections::{BTreeMap, BTreeSet};

/// Ends of live objects, by chunk and start.
type Taken = BTreeMap<(u32, u64), u64>;

/// What is known of chunks and their pages before each operation.
#[derive(Clone, Debug)]
pub(super) struct Rooms {
    unit_bytes: u64,
    grain_bytes: u64,
    knows_pages: bool,
    /// The default engine misses no place.
    strict: bool,
    /// Numbers of chunks that ever held an object.
    seen: BTreeSet<u32>,
    /// Every chunk and its pages, if they were looked at.
    pages: Option<PageMap>,
    /// What there was to see when they were: changes of pages, and chunks with a number.
    looked_at: Option<(u64, usize)>,
    missed: u64,
}

/// A request in bytes that the engine can tell apart.
#[derive(Clone, Copy)]
struct Wanted {
    size: u64,
    align: u64,
    /// Whether the place's pages must have memory.
    populated: bool,
}

impl Rooms {
    pub(super) fn new(entry: &EngineEntry, config: &Config) -> Self {
        Self {
            unit_bytes: u64::from(config.unit_bytes),
            grain_bytes: entry.grain_bytes,
            knows_pages: entry.knows_pages,
            strict: ENGINES.first().is_some_and(|first| first.engine == entry.engine),
            seen: BTreeSet::new(),
            pages: None,
            looked_at: None,
            missed: 0,
        }
    }

    pub(super) fn missed(&self) -> u64 {
        self.missed
    }

    /// Looks at the pages, if they or the chunks' numbers changed.
    pub(super) fn see_pages(&mut self, session: &dyn Session) {
        let now = Some((session.page_changes(), self.seen.len()));
        if self.looked_at != now {
            self.pages = session.page_map();
            self.looked_at = now;
        }
    }

    /// Judges an answer while `taken` is as it was before.
    pub(super) fn judge(&mut self, op: &Op, answer: Answer, taken: &Taken) -> Result<(), String> {
        let Op::Alloc { size_bytes, align, .. } = *op else { return Ok(()) };
        let what = match answer {
            Answer::NoRoom => "was refused",
            // A chunk that is there already and never held an object is no new one.
            Answer::At { chunk, .. } if self.seen.insert(chunk) && !self.has_unused() => "had a chunk made",
            _ => return Ok(()),
        };
        let refused = answer == Answer::NoRoom;
        // Where nobody looked at pages, as in `stress`, which runs batches, those with live objects are known to have memory.
        let populated = self.knows_pages && (refused || self.pages.is_none());
        let size = size_bytes.next_multiple_of(self.grain_bytes);
        let align = align.bytes().max(self.grain_bytes);
        let wanted = Wanted { size, align, populated };
        let Some((chunk, start)) = self.place(wanted, taken) else { return Ok(()) };
        self.missed += 1;
        if self.strict {
            return Err(format!("{op:?} {what}, though there is room in chunk {chunk:?} at {start}"));
        }
        Ok(())
    }

    fn has_unused(&self) -> bool {
        self.pages.iter().flatten().any(|(number, _)| number.is_none())
    }

    /// A place in any chunk there is. Without a look at pages, chunks with live objects are those there are.
    fn place(&self, wanted: Wanted, taken: &Taken) -> Option<(Option<u32>, u64)> {
        if let Some(pages) = &self.pages {
            let in_chunk = |(number, pages): &(Option<u32>, Vec<bool>)| {
                self.place_in(*number, Some(pages), wanted, taken).map(|start| (*number, start))
            };
            return pages.iter().find_map(in_chunk);
        }
        let mut next = taken.keys().next().map(|&(chunk, _)| chunk);
        while let Some(chunk) = next {
            let pages = self.knows_pages.then(|| with_objects(chunk, taken));
            if let Some(start) = self.place_in(Some(chunk), pages.as_deref(), wanted, taken) {
                return Some((Some(chunk), start));
            }
            next = taken.range((chunk, u64::MAX)..).next().map(|(&(chunk, _), _)| chunk);
        }
        None
    }

    /// The lowest place between the objects of a chunk.
    fn place_in(
        &self,
        chunk: Option<u32>,
        pages: Option<&[bool]>,
        wanted: Wanted,
        taken: &Taken,
    ) -> Option<u64> {
        let mut free = 0;
        let objects = chunk.map(|chunk| taken.range((chunk, 0)..(chunk, u64::MAX)));
        for (&(_, start), &end) in objects.into_iter().flatten() {
            if let Some(place) = place_between(free, start, pages, wanted) {
                return Some(place);
            }
            free = end;
        }
        place_between(free, self.unit_bytes, pages, wanted)
    }
}

/// Which pages of a chunk hold a live object or a part of one, up to the last that does.
fn with_objects(chunk: u32, taken: &Taken) -> Vec<bool> {
    let page = |byte: u64| usize::try_from(byte / u64::from(PAGE_BYTES)).unwrap_or(usize::MAX);
    let mut pages = Vec::new();
    for (&(_, start), &end) in taken.range((chunk, 0)..(chunk, u64::MAX)) {
        pages.resize(page(start).max(pages.len()), false);
        pages.resize(page(end - 1) + 1, true);
    }
    pages
}

/// The lowest place in free bytes.
fn place_between(from: u64, end: u64, pages: Option<&[bool]>, wanted: Wanted) -> Option<u64> {
    let page_bytes = u64::from(PAGE_BYTES);
    let mut start = from.next_multiple_of(wanted.align);
    while start + wanted.size <= end {
        let mut touched = start / page_bytes..(start + wanted.size).div_ceil(page_bytes);
        let populated = |page: u64| {
            pages.is_none_or(|pages| usize::try_from(page).is_ok_and(|at| pages.get(at) == Some(&true)))
        };
        match touched.rfind(|&page| wanted.populated && !populated(page)) {
            None => return Some(start),
            Some(hole) => start = ((hole + 1) * page_bytes).next_multiple_of(wanted.align),
        }
    }
    None
}
