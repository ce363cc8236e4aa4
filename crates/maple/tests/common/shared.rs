//! What the tests of the shared map have in common: a map and its model, and changes of both.

#![allow(dead_code, reason = "not every test uses all of it")]

pub(crate) mod model;

pub(crate) use model::Model;

use freehold_maple::Nodes;
use freehold_maple::maple_tree::{MapleTree, WriteError};
use freehold_units::Span;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

/// From one entry to the next.
pub(crate) const STRIDE: u64 = 10;

pub(crate) type Map = MapleTree<Arc<u32>>;

/// A range with its value; a gap has none.
pub(crate) type Slot = (Span, Option<u32>);

pub(crate) fn span(first: u64, last: u64) -> Span {
    Span::new(first, last).unwrap()
}

/// Fails where an operation waits for ever.
pub(crate) fn ends(operation: impl FnOnce() + Send + 'static) {
    let (done, ended) = channel();
    let thread = std::thread::spawn(move || {
        operation();
        done.send(()).unwrap();
    });
    let waited = ended.recv_timeout(Duration::from_secs(if cfg!(miri) { 300 } else { 20 }));
    assert_ne!(waited, Err(RecvTimeoutError::Timeout), "it waits for ever");
    thread.join().unwrap();
}

/// Readers hold back what every map of the process retired: a test with one that stalls runs alone.
static STALLED: RwLock<()> = RwLock::new(());

/// For a test whose readers leave soon.
pub(crate) fn beside_others() -> RwLockReadGuard<'static, ()> {
    STALLED.read().unwrap_or_else(PoisonError::into_inner)
}

/// For a test that counts what comes back, or whose readers stay.
pub(crate) fn alone() -> RwLockWriteGuard<'static, ()> {
    STALLED.write().unwrap_or_else(PoisonError::into_inner)
}

/// Random numbers, the same each time.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    pub(crate) fn span(&mut self, width: u64) -> Span {
        let first = self.below(width);
        let len = if self.below(8) == 0 { self.below(width) } else { self.below(25) };
        span(first, if self.below(50) == 0 { u64::MAX } else { (first + len).min(width) })
    }

    /// A range of few indexes.
    pub(crate) fn small_span(&mut self, width: u64) -> Span {
        let first = self.below(width);
        span(first, first + self.below(25))
    }
}

/// Asks again while readers of other tests hold too much back: their threads may not run for a while.
pub(crate) fn with_room<T>(mut attempt: impl FnMut() -> Result<T, WriteError>) -> Result<T, WriteError> {
    loop {
        match attempt() {
            Err(WriteError::Readers { .. }) => std::thread::yield_now(),
            done => return done,
        }
    }
}

pub(crate) fn store(map: &Map, over: Span, value: u32) {
    with_room(|| map.store(over, Arc::new(value)).map_err(|refused| refused.cause)).unwrap();
}

/// A map and its model with so many entries, gaps between them if `gaps`.
pub(crate) fn filled_with(nodes: Nodes, entries: u64, gaps: bool) -> (Map, Model) {
    let (map, mut model) = (MapleTree::with_nodes(nodes), Model::default());
    for at in 0..entries {
        let first = STRIDE * at;
        let over = span(first, first + if gaps { 6 } else { STRIDE - 1 });
        store(&map, over, at as u32);
        model.store(over, at as u32);
    }
    (map, model)
}

/// On small nodes.
pub(crate) fn filled(entries: u64, gaps: bool) -> (Map, Model) {
    filled_with(Nodes::Small, entries, gaps)
}

pub(crate) fn compare(map: &Map, model: &Model) {
    map.validate().unwrap();
    let reading = map.read();
    assert!(reading.iter().map(|(at, value)| (at, *value)).eq(model.0.iter().copied()));
    assert!(reading.iter().rev().map(|(at, value)| (at, *value)).eq(model.0.iter().rev().copied()));
    assert!(reading.gaps(..).eq(model.gaps()));
    assert_eq!(map.len(), model.0.len() as u64);
}

/// One change of the model: a store, or without a value a removal.
pub(crate) fn change_model(model: &mut Model, over: Span, value: Option<u32>) {
    match value {
        Some(value) => model.store(over, value),
        None => model.remove_range(over),
    }
}

/// One change of both.
pub(crate) fn change(map: &Map, model: &mut Model, over: Span, value: Option<u32>) {
    match value {
        Some(value) => store(map, over, value),
        None => with_room(|| map.remove_range(over)).unwrap(),
    }
    change_model(model, over, value);
}

/// How often each of two readers on threads of their own has looked: on a machine that is busy, a writer would be done before they
/// run at all.
#[derive(Default)]
pub(crate) struct Looks {
    counts: [AtomicU64; 2],
    /// One has ended, or panicked: nobody waits for it.
    ended: AtomicBool,
}

/// A reader, as long as it looks.
pub(crate) struct Looker<'l>(&'l Looks, usize);

impl Looks {
    pub(crate) fn begin(&self, reader: usize) -> Looker<'_> {
        Looker(self, reader)
    }

    /// Waits until both have looked once more.
    pub(crate) fn wait(&self) {
        let before = self.counts();
        let behind = || self.counts().iter().zip(before).any(|(now, before)| *now == before);
        while behind() && !self.ended.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    }

    pub(crate) fn counts(&self) -> [u64; 2] {
        [0, 1].map(|reader: usize| self.counts[reader].load(Ordering::SeqCst))
    }
}

impl Looker<'_> {
    pub(crate) fn looked(&self) {
        self.0.counts[self.1].fetch_add(1, Ordering::SeqCst);
    }
}

impl Drop for Looker<'_> {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::SeqCst);
    }
}
