//! What sessions of the percpu family can do beyond running operations.

use crate::engine::Driven;
use freehold::units::Align;
use freehold_trace::percpu::{Answer, ChunkLine, Driver, Engine, Footprint, Location, Op, PageMap};

/// An engine at work.
pub trait Session: Driven<Op, Answer> {
    /// Whether the last operation left work for later, which was done.
    fn balanced(&self) -> bool;

    /// Places one object after the other, each of the next size, and notes where; stops at the first that does not
    /// fit. Neither names nor numbers them.
    fn fill(&mut self, sizes_bytes: &[u32], align: Align, places: &mut Vec<Location>);

    /// Frees what is there, in that order; how much was not.
    fn drain(&mut self, places: &[Location]) -> usize;

    /// Frees and places in turn: whatever is at each victim's position, and an object of the next size in its
    /// stead; how much of it failed.
    fn churn(&mut self, victims: &[u32], sizes_bytes: &[u32], places: &mut [Location]) -> usize;

    /// Does the work that operations left for later.
    fn balance(&mut self);

    /// Lets the engine have so many pages with memory in each unit at most; whether it can be limited.
    fn limit_pages(&mut self, most: Option<u64>) -> bool;

    /// How many more it may have; `None` if there is no limit.
    fn pages_left(&self) -> Option<u64>;

    /// Pages that have memory in each unit.
    fn populated_pages(&self) -> u64;

    /// What the engine takes now.
    fn footprint(&self) -> Footprint;

    /// A line for every chunk, if the engine keeps such.
    fn chunk_lines(&self) -> Option<Vec<ChunkLine>>;

    /// Which pages of every chunk have memory, if the engine has pages.
    fn page_map(&self) -> Option<PageMap>;

    /// How often that changed.
    fn page_changes(&self) -> u64;

    /// The same engine in the same state; `None` if it cannot be copied.
    fn duplicate(&self) -> Option<Box<dyn Session>>;
}

impl<E: Engine + 'static> Session for Driver<E> {
    fn balanced(&self) -> bool {
        Self::balanced(self)
    }

    fn fill(&mut self, sizes_bytes: &[u32], align: Align, places: &mut Vec<Location>) {
        let engine = self.engine_mut();
        for &size in sizes_bytes {
            match engine.alloc(u64::from(size), align, false, &mut ()) {
                Some(place) => places.push(place),
                None => return,
            }
        }
    }

    fn drain(&mut self, places: &[Location]) -> usize {
        let engine = self.engine_mut();
        places.iter().map(|&place| usize::from(!engine.free(place, &mut ()))).sum()
    }

    fn churn(&mut self, victims: &[u32], sizes_bytes: &[u32], places: &mut [Location]) -> usize {
        let engine = self.engine_mut();
        let mut failed = 0;
        for (&victim, &size) in victims.iter().zip(sizes_bytes) {
            let Some(place) = places.get_mut(victim as usize) else {
                failed += 1;
                continue;
            };
            failed += usize::from(!engine.free(*place, &mut ()));
            match engine.alloc(u64::from(size), Align::ONE, false, &mut ()) {
                Some(new) => *place = new,
                None => failed += 1,
            }
        }
        failed
    }

    fn balance(&mut self) {
        self.engine_mut().balance();
    }

    fn limit_pages(&mut self, most: Option<u64>) -> bool {
        self.engine_mut().limit_pages(most)
    }

    fn pages_left(&self) -> Option<u64> {
        self.engine().pages_left()
    }

    fn populated_pages(&self) -> u64 {
        self.engine().populated_pages()
    }

    fn footprint(&self) -> Footprint {
        self.engine().footprint()
    }

    fn chunk_lines(&self) -> Option<Vec<ChunkLine>> {
        Self::chunk_lines(self)
    }

    fn page_map(&self) -> Option<PageMap> {
        Self::page_map(self)
    }

    fn page_changes(&self) -> u64 {
        self.engine().page_changes()
    }

    fn duplicate(&self) -> Option<Box<dyn Session>> {
        Some(Box::new(Self::duplicate(self)?))
    }
}
