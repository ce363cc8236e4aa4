//! Holding answers against what any allocator of the family must do, operation by operation: each object aligned,
//! within its unit, and apart from the others. Cost: a walk of a tree of the live objects for each answer.

use super::PAGE_BYTES;
use super::rooms::{Rooms, Taken, Units, objects_of};
use freehold_trace::percpu::{Answer, ChunkLine, Op, Session};
use std::collections::HashMap;

/// The live objects as the answers tell them.
#[derive(Clone, Debug)]
pub struct Checker {
    units: Units,
    /// The engine shall miss no place.
    strict: bool,
    taken: Taken,
    live: HashMap<u32, (u32, u64)>,
    live_bytes: u64,
    requests: u64,
    rooms: Rooms,
}

/// Of so many requests at least, an engine that misses a place for more than three in four does not look for one.
const REQUESTS: u64 = 64;

impl Checker {
    /// Of an engine that has such units, before anything is live; one of which no place is to be missed, if `strict`.
    pub fn of(units: Units, strict: bool) -> Self {
        Self {
            units,
            strict,
            taken: Taken::new(),
            live: HashMap::new(),
            live_bytes: 0,
            requests: 0,
            rooms: Rooms::default(),
        }
    }

    /// Sees which pages have memory before the next operation, so that it can be said whether a refusal is right.
    pub fn see_pages(&mut self, session: &dyn Session) {
        self.rooms.see_pages(session);
    }

    /// Requests that were refused, or had a chunk made for them, though there was a place.
    pub fn missed(&self) -> u64 {
        self.rooms.missed
    }

    /// Bytes that live objects take in a unit.
    pub fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// First byte of each live object of a chunk, and the one after its last, ascending.
    pub fn objects(&self, chunk: u32) -> impl Iterator<Item = (u64, u64)> {
        objects_of(&self.taken, chunk)
    }

    fn check_chunk(&self, line: &ChunkLine) -> Result<(), String> {
        let (mut used, mut count, mut pages, mut next_page) = (0, 0, 0, 0);
        for (start, end) in line.chunk.into_iter().flat_map(|chunk| self.objects(chunk)) {
            used += end - start;
            count += 1;
            let (first, last) = (start / PAGE_BYTES, (end - 1) / PAGE_BYTES);
            pages += (last + 1).saturating_sub(first.max(next_page));
            next_page = last + 1;
        }
        let free = self.units.bytes - used;
        let with_objects = line.populated_pages.checked_sub(line.empty_pages);
        if (line.free_bytes, line.objects, with_objects) == (free, count, Some(pages)) {
            return Ok(());
        }
        Err(format!("{line}: should have {free} bytes free, {count} objects and {pages} pages with any"))
    }

    /// Takes note of an answer. A place that was missed is counted, and wrong if that is strict.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&mut self, op: &Op, answer: Answer) -> Result<(), String> {
        let missed = self.rooms.missed(self.units, op, answer, &self.taken);
        if let Some(missed) = missed.filter(|_| self.strict) {
            return Err(missed);
        }
        self.requests += u64::from(!op.is_free());
        match (*op, answer) {
            (Op::Free { object }, Answer::Freed) => {
                let place = self.live.remove(&object).ok_or("an object that is not live was freed")?;
                let end = self.taken.remove(&place).unwrap_or(place.1);
                self.live_bytes -= end - place.1;
                Ok(())
            }
            (Op::Free { object }, Answer::NotLive) if !self.live.contains_key(&object) => Ok(()),
            (Op::Alloc { .. }, Answer::NoRoom) => Ok(()),
            (Op::Alloc { object, size_bytes, align, .. }, Answer::At { chunk, offset_bytes }) => {
                let (start, end) =
                    (offset_bytes, offset_bytes + size_bytes.next_multiple_of(self.units.grain_bytes));
                if !align.divides(start) || !start.is_multiple_of(self.units.grain_bytes) {
                    return Err(format!("{start} is not a multiple of {}", align.bytes()));
                }
                if end > self.units.bytes {
                    return Err(format!("{start} to {end} is not in a unit"));
                }
                let below = self.taken.range((chunk, 0)..(chunk, end)).next_back();
                if below.is_some_and(|(_, &taken)| taken > start) {
                    return Err(format!("{start} to {end} of chunk {chunk} is not free"));
                }
                self.taken.insert((chunk, start), end);
                self.live_bytes += end - start;
                match self.live.insert(object, (chunk, start)) {
                    None => Ok(()),
                    Some(_) => Err(format!("object {object} was allocated twice")),
                }
            }
            _ => Err(format!("{answer}, which is no answer to it")),
        }
    }

    /// Why a request that was refused should not have been: one that can wait always fits, as another chunk is made for it if
    /// there is memory behind.
    pub fn wrongly_refused(&self, op: &Op, session: &dyn Session) -> Option<String> {
        let Op::Alloc { size_bytes, atomic, .. } = *op else { return None };
        if atomic && self.units.knows_pages {
            return None;
        }
        let needed = size_bytes.div_ceil(PAGE_BYTES) + 1;
        let left = session.pages_left();
        left.is_none_or(|left| left >= needed).then(|| match left {
            None => "a chunk could be made for it".to_owned(),
            Some(left) => format!("there is memory for {left} pages"),
        })
    }

    /// How many objects are live.
    pub fn live(&self) -> u64 {
        self.live.len() as u64
    }

    /// Checks how many objects and bytes there are, and each chunk's counts where the engine tells them.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check_state(&self, session: &dyn Session) -> Result<(), String> {
        let (missed, requests) = (self.missed(), self.requests);
        if requests >= REQUESTS && missed > requests / 4 * 3 {
            return Err(format!(
                "{missed} of {requests} requests were refused or had a chunk made, though there was a place"
            ));
        }
        let footprint = session.footprint();
        if footprint.objects != self.live() {
            return Err(format!("{} objects are live, not {}", self.live(), footprint.objects));
        }
        // Without pages there may be scraps that are neither free nor anybody's.
        let used_bytes = (footprint.chunks * self.units.bytes).saturating_sub(footprint.free_bytes);
        if self.units.knows_pages && used_bytes != self.live_bytes {
            return Err(format!("{} bytes are taken, not {used_bytes}", self.live_bytes));
        }
        let lines = session.chunk_lines().unwrap_or_default();
        lines.iter().try_for_each(|line| self.check_chunk(line))
    }
}
