//! `left-right`: two trees, of which readers have one while the other is written.

use super::{Entry, LookUp, Reader, SharedRanges};
use left_right::{Absorb, ReadGuard, ReadHandle, ReadHandleFactory, WriteHandle};
use parking_lot::Mutex;
use std::collections::BTreeMap;

type Tree = BTreeMap<u64, Entry>;

/// A change of both trees.
#[derive(Clone, Copy, Debug)]
enum Change {
    Store(u64, Entry),
    Erase(u64),
}

/// A tree that changes are applied to.
#[derive(Clone, Debug, Default)]
struct Side(Tree);

impl Absorb<Change> for Side {
    fn absorb_first(&mut self, change: &mut Change, _: &Self) {
        match *change {
            Change::Store(first, entry) => drop(self.0.insert(first, entry)),
            Change::Erase(first) => drop(self.0.remove(&first)),
        }
    }

    fn sync_with(&mut self, first: &Self) {
        self.0.clone_from(&first.0);
    }
}

/// Two `BTreeMap`s of `left-right`. Each store is published at once.
pub struct LeftRightMap {
    /// One thread at a time writes.
    writer: Mutex<WriteHandle<Side, Change>>,
    readers: ReadHandleFactory<Side>,
}

impl Default for LeftRightMap {
    fn default() -> Self {
        let (mut writer, reader) = left_right::new_from_empty(Side::default());
        writer.publish();
        Self { writer: Mutex::new(writer), readers: reader.factory() }
    }
}

impl std::fmt::Debug for LeftRightMap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LeftRightMap").finish_non_exhaustive()
    }
}

impl SharedRanges for LeftRightMap {
    type Reader<'a> = ReadSide;

    fn reader(&self) -> ReadSide {
        ReadSide(self.readers.handle())
    }

    fn store(&self, first: u64, last: u64, value: u64) -> bool {
        self.writer.lock().append(Change::Store(first, (last, value))).publish();
        true
    }

    fn erase(&self, first: u64) -> bool {
        self.writer.lock().append(Change::Erase(first)).publish();
        true
    }
}

/// A thread's handle.
#[derive(Debug)]
pub struct ReadSide(ReadHandle<Side>);

impl Reader for ReadSide {
    type Held<'r> = HeldSide<'r>;

    #[inline]
    fn get(&self, index: u64) -> Option<u64> {
        super::at(&self.0.enter()?.0, index)
    }

    fn hold(&self) -> Option<HeldSide<'_>> {
        self.0.enter().map(HeldSide)
    }
}

/// One of the two trees, which is not written meanwhile.
#[derive(Debug)]
pub struct HeldSide<'r>(ReadGuard<'r, Side>);

impl LookUp for HeldSide<'_> {
    #[inline]
    fn get(&self, index: u64) -> Option<u64> {
        super::at(&self.0.0, index)
    }
}
