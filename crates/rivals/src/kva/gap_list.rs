//! The allocator that the 2019 rework replaced: Linux up to 5.1 knew its busy areas alone, in a tree and in an
//! ordered list, and found free space by walking the list from gap to gap.
//!
//! ```text
//!   list   [area]-->[area]----->[area]-->[area]        a gap is what lies between two areas;
//!              addr ->|  hole  |                       a request walks until one is wide enough
//! ```
//!
//! Four cached values spare it the walk when requests repeat: the node it ended at, the largest hole it has
//! seen below that node, and window start and alignment of the last request. The walk is the real one, step for
//! step; the busy tree is a `BTreeMap` here, which is quicker than the red-black tree that it stands for.
//!
//! Source: the talk, and the kernel's behaviour as recorded in the vectors.

use super::memory::btreemap_bytes;
use crate::RivalWork;
use freehold_trace::kva::Engine;
use freehold_units::{Align, Probe, Span};
use std::collections::BTreeMap;

/// An area of the ordered list.
#[derive(Clone, Copy, Debug)]
struct Area {
    span: Span,
    previous: Option<u32>,
    next: Option<u32>,
}

/// The gap allocator of Linux <= 5.1.
#[derive(Clone, Debug)]
pub struct GapList {
    /// Areas of the list, and vacant ones.
    areas: Vec<Area>,
    vacant: Vec<u32>,
    /// The busy tree: areas by their first address.
    tree: BTreeMap<u64, u32>,
    layout: Span,
    granule: Align,
    /// The last node, where the next walk may start.
    cache: Option<u32>,
    /// Bytes of the largest hole seen below the cached node.
    cached_hole_bytes: u64,
    cached_vstart: u64,
    cached_align_bytes: u64,
}

/// Where a walk starts.
struct Start {
    address: u64,
    area: Option<u32>,
    how: RivalWork,
}

impl GapList {
    /// A space of one span; the gap allocator knows no other layout.
    ///
    /// # Errors
    /// The layout has more than one span, or none.
    pub fn new(layout: &[Span], granule: Align) -> Result<Self, String> {
        let &[span] = layout else {
            return Err(format!("the gap allocator manages one span, not {}", layout.len()));
        };
        Ok(Self {
            areas: Vec::new(),
            vacant: Vec::new(),
            tree: BTreeMap::new(),
            layout: span,
            granule,
            cache: None,
            cached_hole_bytes: 0,
            cached_vstart: 0,
            cached_align_bytes: 0,
        })
    }

    /// Bytes of the largest hole seen below the cached node.
    #[must_use]
    pub fn cached_hole_bytes(&self) -> u64 {
        self.cached_hole_bytes
    }

    /// The window start of the last request.
    #[must_use]
    pub fn cached_vstart(&self) -> u64 {
        self.cached_vstart
    }

    /// The alignment of the last request in bytes.
    #[must_use]
    pub fn cached_align_bytes(&self) -> u64 {
        self.cached_align_bytes
    }

    /// First address of the cached node.
    #[must_use]
    pub fn cache_start(&self) -> Option<u64> {
        self.area(self.cache?).map(|area| area.span.first())
    }

    /// The busy areas in address order.
    pub fn busy_areas(&self) -> impl Iterator<Item = Span> {
        self.tree.values().filter_map(|&link| Some(self.area(link)?.span))
    }

    fn area(&self, link: u32) -> Option<&Area> {
        self.areas.get(link as usize)
    }

    /// The node and hole are of no use to this request, or there is no node.
    fn forget_cache(&mut self) {
        self.cache = None;
        self.cached_hole_bytes = 0;
    }

    fn start(&mut self, size_bytes: u64, align: Align, vstart: u64) -> Option<Start> {
        let stale = size_bytes < self.cached_hole_bytes
            || vstart < self.cached_vstart
            || align.bytes() < self.cached_align_bytes;
        if self.cache.is_none() || stale {
            self.forget_cache();
        }
        self.cached_vstart = vstart;
        self.cached_align_bytes = align.bytes();
        if let Some(area) = self.cache.and_then(|link| self.area(link)) {
            let address = after(area.span, align)?;
            if address >= vstart {
                return Some(Start { address, area: self.cache, how: RivalWork::StartedCached });
            }
            self.forget_cache();
        }
        let address = align.up(vstart)?;
        let area = self.lowest_ending_at_or_after(address);
        let how = if area.is_some() { RivalWork::StartedDescended } else { RivalWork::StartedBeyond };
        Some(Start { address, area, how })
    }

    /// The lowest area whose end, one past its last address, is at or after `address`.
    fn lowest_ending_at_or_after(&self, address: u64) -> Option<u32> {
        let before = self.tree.range(..address).next_back().map(|(_, &link)| link);
        let reaches = |link: &u32| {
            let last = self.area(*link).map(|area| area.span.last());
            last.is_some_and(|last| last.checked_add(1).is_none_or(|end| end >= address))
        };
        before.filter(reaches).or_else(|| self.tree.range(address..).next().map(|(_, &link)| link))
    }

    /// Walks the list from gap to gap until one holds the request, or the window ends.
    fn walk(
        &mut self,
        start: &Start,
        size_bytes: u64,
        align: Align,
        window: Span,
        probe: &mut impl Probe,
    ) -> Option<Span> {
        let (mut address, mut next) = (start.address, start.area);
        loop {
            let candidate = Span::from_size(address, size_bytes)?;
            if candidate.last() > window.last() {
                return None;
            }
            let area = match next.and_then(|link| self.area(link)) {
                Some(area) if candidate.last() >= area.span.first() => *area,
                _ => return Some(candidate),
            };
            RivalWork::ListStepped.count(1, probe);
            let hole_bytes = area.span.first().saturating_sub(address);
            self.cached_hole_bytes = self.cached_hole_bytes.max(hole_bytes);
            address = after(area.span, align)?;
            next = area.next;
        }
    }

    fn insert(&mut self, span: Span) {
        let previous = self.tree.range(..span.first()).next_back().map(|(_, &link)| link);
        let next = match previous.and_then(|link| self.area(link)) {
            Some(area) => area.next,
            None => self.tree.first_key_value().map(|(_, &link)| link),
        };
        let area = Area { span, previous, next };
        let link = match self.vacant.pop() {
            Some(link) => {
                if let Some(slot) = self.areas.get_mut(link as usize) {
                    *slot = area;
                }
                link
            }
            None => {
                self.areas.push(area);
                (self.areas.len() - 1) as u32
            }
        };
        self.join(previous, Some(link));
        self.join(Some(link), next);
        self.tree.insert(span.first(), link);
        self.cache = Some(link);
    }

    fn join(&mut self, before: Option<u32>, behind: Option<u32>) {
        if let Some(area) = before.and_then(|link| self.areas.get_mut(link as usize)) {
            area.next = behind;
        }
        if let Some(area) = behind.and_then(|link| self.areas.get_mut(link as usize)) {
            area.previous = before;
        }
    }

    /// A freed area below the cached node moves the node back, so that the next walk meets the new gap.
    fn step_cache_back(&mut self, freed: &Area, probe: &mut impl Probe) {
        let Some(cache_start) = self.cache_start() else { return };
        if freed.span.last().checked_add(1).is_some_and(|end| end < self.cached_vstart) {
            self.cache = None;
            RivalWork::CacheDropped.count(1, probe);
        } else if freed.span.first() <= cache_start {
            self.cache = freed.previous;
            let work = if self.cache.is_some() { RivalWork::CacheMoved } else { RivalWork::CacheDropped };
            work.count(1, probe);
        }
    }
}

/// The first aligned address behind the area.
fn after(area: Span, align: Align) -> Option<u64> {
    align.up(area.last().checked_add(1)?)
}

impl Engine for GapList {
    fn alloc(&mut self, size_bytes: u64, align: Align, window: Span, probe: &mut impl Probe) -> Option<u64> {
        let align = align.max(self.granule);
        let window = window.intersection(self.layout)?;
        let start = self.start(size_bytes, align, window.first())?;
        start.how.count(1, probe);
        let span = self.walk(&start, size_bytes, align, window, probe)?;
        self.insert(span);
        Some(span.first())
    }

    fn free(&mut self, first: u64, probe: &mut impl Probe) -> bool {
        let Some(link) = self.tree.get(&first).copied() else { return false };
        let Some(area) = self.area(link).copied() else { return false };
        self.step_cache_back(&area, probe);
        self.tree.remove(&first);
        self.join(area.previous, area.next);
        self.vacant.push(link);
        true
    }

    fn free_blocks(&self, visit: &mut dyn FnMut(Span)) {
        let mut from = Some(self.layout.first());
        for area in self.busy_areas() {
            let gap = from.zip(area.first().checked_sub(1)).and_then(|(first, last)| Span::new(first, last));
            gap.into_iter().for_each(&mut *visit);
            from = area.last().checked_add(1);
        }
        from.and_then(|first| Span::new(first, self.layout.last())).into_iter().for_each(visit);
    }

    fn metadata_bytes(&self) -> usize {
        self.areas.capacity() * size_of::<Area>()
            + self.vacant.capacity() * 4
            + btreemap_bytes(self.tree.len(), 12)
    }

    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn validate(&self) -> Result<(), String> {
        let mut previous: Option<(u32, Span)> = None;
        for (&first, &link) in &self.tree {
            let area = self.area(link).ok_or("the tree names an area that is not there")?;
            let in_order = previous.is_none_or(|(_, span)| span.last() < first);
            let linked = area.previous == previous.map(|(link, _)| link);
            if !in_order || !linked || area.span.first() != first || !self.layout.covers(area.span) {
                return Err(format!("the list is wrong at {first:#x}"));
            }
            previous = Some((link, area.span));
        }
        let ends = previous.and_then(|(link, _)| self.area(link)).is_none_or(|area| area.next.is_none());
        if ends { Ok(()) } else { Err("the list goes on behind its last area".to_owned()) }
    }
}
