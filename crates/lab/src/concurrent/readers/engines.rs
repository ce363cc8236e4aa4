//! Who is read: ours, and other maps that threads share, each in loops of its own type.

use super::ranges::{self, NUMBER, Seen, number_of};
use crate::concurrent::{FLOOR, Who};
use freehold::maple::{MapleTree, WordMap};
use freehold_rivals::concurrent::{
    LeftRightMap, LookUp, Optimistic, Reader, RwLockMap, SharedRanges, SkipListMap, TreeIndexMap,
};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::hint::black_box;

/// Ours.
pub const MAPLE: &str = "maple-tree";
/// The map of one owner, for ratios.
pub const OWNED: &str = "range-map";

/// Times that a refused store is tried again.
const TRIES: u64 = 1_000_000;

/// Whether a guard is held over all reads, or each has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarded {
    /// Each read has its own.
    Each,
    /// One is held over all.
    Held,
}

/// Operations in loops, so that each is not called through a table.
pub trait Subject: Sync {
    /// Reads at these indexes, each within a range; `None` if it has no such guards.
    fn read(&self, indexes: &[u64], guarded: Guarded) -> Option<Seen>;

    /// The value at an index.
    fn value_at(&self, index: u64) -> Option<u64>;

    /// Stores these ranges anew, in that version; how often it was refused before.
    fn store(&self, numbers: &[u32], version: u16) -> anyhow::Result<u64>;

    /// Removes these ranges; how often it was refused before.
    fn erase(&self, numbers: &[u32]) -> anyhow::Result<u64>;
}

/// Tries each until it is not refused; how often it was.
fn each_until_done(numbers: &[u32], attempt: impl Fn(u32) -> bool) -> anyhow::Result<u64> {
    let mut all = 0;
    for &number in numbers {
        let mut refused = 0;
        while !attempt(number) {
            refused += 1;
            anyhow::ensure!(refused < TRIES, "a store was refused {TRIES} times");
            std::thread::yield_now();
        }
        all += refused;
    }
    Ok(all)
}

impl<T: SharedRanges> Subject for T {
    fn read(&self, indexes: &[u64], guarded: Guarded) -> Option<Seen> {
        let (reader, mut seen) = (self.reader(), Seen::default());
        match guarded {
            Guarded::Each => indexes.iter().for_each(|&index| seen.note(index, reader.get(index))),
            Guarded::Held => {
                let held = reader.hold()?;
                indexes.iter().for_each(|&index| seen.note(index, held.get(index)));
            }
        }
        Some(seen)
    }

    fn value_at(&self, index: u64) -> Option<u64> {
        self.reader().get(index)
    }

    fn store(&self, numbers: &[u32], version: u16) -> anyhow::Result<u64> {
        each_until_done(numbers, |number| {
            let (first, last) = ranges::bounds(number);
            SharedRanges::store(self, first, last, ranges::value(number, version))
        })
    }

    fn erase(&self, numbers: &[u32]) -> anyhow::Result<u64> {
        each_until_done(numbers, |number| SharedRanges::erase(self, ranges::bounds(number).0))
    }
}

/// Ours.
#[derive(Default)]
struct Maple(MapleTree<u64>);

impl Subject for Maple {
    fn read(&self, indexes: &[u64], guarded: Guarded) -> Option<Seen> {
        let mut seen = Seen::default();
        match guarded {
            Guarded::Each => indexes.iter().for_each(|&index| seen.note(index, self.0.read().get(index))),
            Guarded::Held => {
                let held = self.0.read();
                indexes.iter().for_each(|&index| seen.note(index, held.get(index)));
            }
        }
        Some(seen)
    }

    fn value_at(&self, index: u64) -> Option<u64> {
        self.0.read().get(index)
    }

    fn store(&self, numbers: &[u32], version: u16) -> anyhow::Result<u64> {
        each_until_done(numbers, |number| {
            let (first, last) = ranges::bounds(number);
            self.0.store(first..=last, ranges::value(number, version)).is_ok()
        })
    }

    fn erase(&self, numbers: &[u32]) -> anyhow::Result<u64> {
        each_until_done(numbers, |number| self.0.erase(ranges::bounds(number).0).is_ok())
    }
}

/// The map of one owner. The lock is taken once for a loop, and is not what is timed.
#[derive(Default)]
struct Owned(Mutex<WordMap<u64>>);

impl Subject for Owned {
    fn read(&self, indexes: &[u64], guarded: Guarded) -> Option<Seen> {
        let (map, mut seen) = (self.0.lock(), Seen::default());
        indexes.iter().for_each(|&index| seen.note(index, map.get(index)));
        (guarded == Guarded::Held).then_some(seen)
    }

    fn value_at(&self, index: u64) -> Option<u64> {
        self.0.lock().get(index)
    }

    fn store(&self, numbers: &[u32], version: u16) -> anyhow::Result<u64> {
        let mut map = self.0.lock();
        for &number in numbers {
            let (first, last) = ranges::bounds(number);
            let stored = map.store(first..=last, ranges::value(number, version));
            stored.map_err(|refused| anyhow::anyhow!("{}", refused.cause))?;
        }
        Ok(0)
    }

    fn erase(&self, numbers: &[u32]) -> anyhow::Result<u64> {
        let mut map = self.0.lock();
        for &number in numbers {
            map.erase(ranges::bounds(number).0);
        }
        Ok(0)
    }
}

/// Does nothing: what the loop costs.
struct Nothing;

impl Subject for Nothing {
    fn read(&self, indexes: &[u64], _: Guarded) -> Option<Seen> {
        let mut seen = Seen::default();
        indexes.iter().for_each(|&index| seen.note(index, black_box(Some(number_of(index) & NUMBER))));
        Some(seen)
    }

    fn value_at(&self, _: u64) -> Option<u64> {
        None
    }

    fn store(&self, numbers: &[u32], version: u16) -> anyhow::Result<u64> {
        for &number in numbers {
            black_box(ranges::value(number, version));
        }
        Ok(0)
    }

    fn erase(&self, numbers: &[u32]) -> anyhow::Result<u64> {
        for number in numbers {
            black_box(number);
        }
        Ok(0)
    }
}

/// A map that can be made anew.
pub struct Entry {
    /// Its name.
    pub who: Who,
    /// Whether it is asked for starts of ranges alone.
    pub exact: bool,
    /// Whether threads share it.
    pub shared: bool,
    /// Makes an empty one.
    pub make: fn() -> Box<dyn Subject>,
}

fn boxed<T: Subject + Default + 'static>() -> Box<dyn Subject> {
    Box::<T>::default()
}

const fn shared(who: Who, make: fn() -> Box<dyn Subject>) -> Entry {
    Entry { who, exact: false, shared: true, make }
}

/// Every map.
pub const ENTRIES: [Entry; 11] = [
    shared(Who::default(MAPLE), boxed::<Maple>),
    Entry { shared: false, ..shared(Who::ours(OWNED), boxed::<Owned>) },
    shared(Who::other("rwlock-btreemap"), boxed::<RwLockMap>),
    shared(Who::other("left-right"), boxed::<LeftRightMap>),
    shared(Who::other("tree-index").variant("search"), boxed::<TreeIndexMap<false>>),
    Entry { exact: true, ..shared(Who::other("tree-index").variant("exact"), boxed::<TreeIndexMap<true>>) },
    shared(Who::other("ferntree").variant("search"), boxed::<Optimistic<false>>),
    Entry { exact: true, ..shared(Who::other("ferntree").variant("exact"), boxed::<Optimistic<true>>) },
    shared(Who::other("skiplist").variant("search"), boxed::<SkipListMap<false>>),
    Entry { exact: true, ..shared(Who::other("skiplist").variant("exact"), boxed::<SkipListMap<true>>) },
    Entry { shared: false, ..shared(Who::other(FLOOR), || Box::new(Nothing)) },
];

/// A map under test, and what was stored last in each range.
pub struct Filled {
    /// Which it is.
    pub entry: &'static Entry,
    /// At work.
    pub map: Box<dyn Subject>,
    versions: Vec<u16>,
}

impl Filled {
    /// With so many ranges.
    pub fn new(entry: &'static Entry, count: u32) -> anyhow::Result<Self> {
        let filled = Self { entry, map: (entry.make)(), versions: vec![0; count as usize] };
        filled.map.store(&(0..count).collect::<Vec<_>>(), 0)?;
        Ok(filled)
    }

    fn count(&self) -> u32 {
        self.versions.len() as u32
    }

    /// Does no work, so that it has nothing to answer with.
    pub fn is_floor(&self) -> bool {
        self.entry.who.engine == FLOOR
    }

    /// Stores ranges in the version after their last one.
    pub fn store(&mut self, numbers: &[u32], version: u16) -> anyhow::Result<u64> {
        let refused = self.map.store(numbers, version)?;
        numbers.iter().for_each(|&number| self.versions[number as usize] = version);
        Ok(refused)
    }

    /// Whether nothing is left of these ranges.
    pub fn check_erased(&self, numbers: &[u32]) -> anyhow::Result<()> {
        let left = numbers.iter().find(|&&number| self.map.value_at(ranges::bounds(number).0).is_some());
        anyhow::ensure!(left.is_none(), "{}: range {left:?} is still there", self.entry.who.label());
        Ok(())
    }

    /// Holds each of these ranges against its last version, after stores in ascending versions from 1 on, the last of which went
    /// through the first `last` of them.
    pub fn check_stored(&self, numbers: &[u32], (version, last): (u16, usize)) -> anyhow::Result<()> {
        let newest: HashSet<u32> = numbers.iter().take(last).copied().collect();
        for &number in numbers {
            let right = if newest.contains(&number) { version } else { version.saturating_sub(1) };
            let (found, wanted) = (self.map.value_at(ranges::bounds(number).0), ranges::value(number, right));
            // What the first version has not reached is of an earlier time.
            let is_right = found == Some(wanted) || right == 0;
            anyhow::ensure!(
                is_right,
                "{}: {found:?} in range {number}, not {wanted}",
                self.entry.who.label()
            );
        }
        Ok(())
    }

    /// Holds every range and every gap against what was stored.
    pub fn check(&self) -> anyhow::Result<()> {
        if self.is_floor() {
            return Ok(());
        }
        let who = self.entry.who.label();
        for (number, &version) in (0..self.count()).zip(&self.versions) {
            let (first, last) = ranges::bounds(number);
            let wanted = Some(ranges::value(number, version));
            let indexes = if self.entry.exact { vec![first] } else { vec![first, first + 5, last] };
            for index in indexes {
                let found = self.map.value_at(index);
                anyhow::ensure!(found == wanted, "{who}: {found:?} at {index}, not {wanted:?}");
            }
        }
        if let Some(index) = ranges::gaps(self.count()).find(|&index| self.map.value_at(index).is_some()) {
            anyhow::bail!("{who}: a value at {index}, which is in a gap");
        }
        Ok(())
    }
}
