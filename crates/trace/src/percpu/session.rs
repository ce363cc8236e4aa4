//! What sessions of the percpu family can do beyond running operations.

use super::{Answer, ChunkLine, Driver, Engine, Footprint, Op, PageMap};
use crate::Driven;

/// An engine at work. One that is known by its answers alone has no pages to tell of, and leaves nothing for later.
pub trait Session: Driven<Op, Answer> {
    /// Whether the last operation left work for later, which was done.
    fn balanced(&self) -> bool {
        false
    }

    /// Does the work that operations left for later.
    fn balance(&mut self) {}

    /// Lets the engine have so many pages with memory in each unit at most; whether it can be limited.
    fn limit_pages(&mut self, most: Option<u64>) -> bool {
        let _ = most;
        false
    }

    /// How many more it may have; `None` if there is no limit.
    fn pages_left(&self) -> Option<u64> {
        None
    }

    /// Pages that have memory in each unit.
    fn populated_pages(&self) -> u64 {
        0
    }

    /// What the engine takes now.
    fn footprint(&self) -> Footprint;

    /// A line for every chunk, if the engine keeps such.
    fn chunk_lines(&self) -> Option<Vec<ChunkLine>> {
        None
    }

    /// Which pages of every chunk have memory, if the engine has pages.
    fn page_map(&self) -> Option<PageMap> {
        None
    }

    /// How often that changed.
    fn page_changes(&self) -> u64 {
        0
    }

    /// The same engine in the same state; `None` if it cannot be copied.
    fn duplicate(&self) -> Option<Box<dyn Session>> {
        None
    }
}

impl<E: Engine + 'static> Session for Driver<E> {
    fn balanced(&self) -> bool {
        Self::balanced(self)
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
