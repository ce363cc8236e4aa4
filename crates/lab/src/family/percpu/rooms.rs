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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::percpu::Scene;
    use crate::family::PercpuChecker as Checker;
    use crate::model::run_percpu_ops;
    use freehold::units::{Align, Probe};
    use freehold_trace::percpu::{ChunkKey, Driver, Engine, Footprint, Location};

    #[test]
    fn places_are_between_objects_and_where_memory_is() {
        let mut rooms = Rooms::new(&ENGINES[1], &Config::new(32 << 10, 1));
        let taken = Taken::from([((0, 0), 4096), ((0, 8192), 12_288)]);
        let wanted = |size, align, populated| Wanted { size, align, populated };
        let place = |rooms: &Rooms, wanted| rooms.place(wanted, &taken).map(|(_, start)| start);
        assert_eq!(place(&rooms, wanted(4096, 4096, false)), Some(4096));
        assert_eq!(place(&rooms, wanted(4100, 4, false)), Some(12_288));
        assert_eq!(place(&rooms, wanted(20_484, 4, false)), None);
        rooms.pages = Some(vec![(Some(0), vec![true, false, true, false, true, true])]);
        assert_eq!(place(&rooms, wanted(4, 4, true)), Some(16_384));
        assert_eq!(place(&rooms, wanted(8192, 8, true)), Some(16_384));
        assert_eq!(place(&rooms, wanted(8196, 4, true)), None, "pages behind the last have no memory");
    }

    /// Makes a chunk for every request, or refuses those that cannot wait.
    struct Wasteful {
        chunks: u32,
        refuses: bool,
    }

    impl Engine for Wasteful {
        fn alloc(&mut self, _: u64, _: Align, atomic: bool, _: &mut impl Probe) -> Option<Location> {
            self.chunks += u32::from(!self.refuses || self.chunks == 0);
            let chunk = ChunkKey { index: self.chunks - 1, generation: 0 };
            (!atomic).then_some(Location { chunk, offset_bytes: 0 })
        }

        fn free(&mut self, _: Location, _: &mut impl Probe) -> bool {
            true
        }

        fn populated_pages(&self) -> u64 {
            8 * u64::from(self.chunks)
        }

        fn footprint(&self) -> Footprint {
            let chunks = u64::from(self.chunks);
            Footprint { chunks, objects: chunks, free_bytes: chunks * 32_764, ..Footprint::default() }
        }

        fn page_map(&self, number: &dyn Fn(ChunkKey) -> Option<u32>) -> Option<PageMap> {
            let number = |index| number(ChunkKey { index, generation: 0 });
            Some((0..self.chunks).map(|index| (number(index), vec![true; 8])).collect())
        }

        fn page_changes(&self) -> u64 {
            self.chunks.into()
        }

        fn validate(&self) -> Result<(), String> {
            Ok(())
        }
    }

    fn wasteful(refuses: bool) -> Box<dyn Session> {
        Box::new(Driver::new(Wasteful { chunks: 0, refuses }, false))
    }

    #[test]
    fn a_chunk_for_every_request_and_a_needless_refusal_are_misses() {
        let default = ENGINES[0];
        let hoards = EngineEntry { make: |_, _| Ok(wasteful(false)), ..default };
        let refuses = EngineEntry { make: |_, _| Ok(wasteful(true)), ..default };
        let alloc =
            |object, atomic| Op::Alloc { object, size_bytes: 4, align: Align::new(4).unwrap(), atomic };
        let says = |entry: &EngineEntry, ops: &[Op]| run_percpu_ops(entry, Scene::tiny(1), ops).unwrap_err();
        let made = says(&hoards, &[alloc(0, false), alloc(1, false)]);
        assert!(made.contains("had a chunk made, though there is room in chunk Some(0) at 4"), "{made}");
        let refused = says(&refuses, &[alloc(0, false), alloc(1, true)]);
        assert!(refused.contains("was refused, though there is room in chunk Some(0) at 4"), "{refused}");
        // The same where nobody looks at pages, but those with objects have memory: as in `stress`.
        let scene = Scene::tiny(1);
        let mut blind = Checker::new(&default, &scene.config);
        let at = |chunk| Answer::At { chunk, offset_bytes: 0 };
        assert_eq!(blind.check(&alloc(0, true), at(0)), Ok(()));
        assert!(blind.clone().check(&alloc(1, true), Answer::NoRoom).unwrap_err().contains("was refused"));
        assert!(blind.check(&alloc(1, false), at(1)).unwrap_err().contains("had a chunk made"));
        let page = Op::Alloc { object: 1, size_bytes: 4096, align: Align::PAGE, atomic: true };
        let mut blind = Checker::new(&default, &scene.config);
        assert_eq!(blind.check(&alloc(0, true), at(0)), Ok(()));
        assert_eq!(blind.check(&page, Answer::NoRoom), Ok(()), "the next page may be without memory");
        // Another engine than the default one is counted.
        let other = EngineEntry { knows_pages: false, ..ENGINES[1] };
        let mut checker = Checker::new(&other, &Scene::tiny(1).config);
        for object in 0..3 {
            let at = Answer::At { chunk: object, offset_bytes: 0 };
            assert_eq!(checker.check(&alloc(object, false), at), Ok(()));
        }
        assert_eq!(checker.missed(), 2);
        // But for one that hardly ever finds a place.
        let other = EngineEntry { make: |_, _| Ok(wasteful(false)), ..ENGINES[1] };
        let ops: Vec<Op> = (0..200).map(|object| alloc(object, false)).collect();
        assert!(says(&other, &ops).contains("though there was a place"));
    }
}
