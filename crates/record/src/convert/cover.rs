//! Which addresses of a process are mapped: enough to hold a recording against `/proc/PID/maps`.

#[cfg(test)]
mod tests;

use crate::event::{Call, Mapping, Source, What};
use std::collections::BTreeMap;

/// `MREMAP_DONTUNMAP`.
const MREMAP_DONTUNMAP: u64 = 4;
/// `MADV_DONTFORK`, `MADV_DOFORK`.
const DONT_FORK: u64 = 10;
const DO_FORK: u64 = 11;
/// `ENOMEM`: not all of what an advice was for is mapped, and the rest has it.
const ENOMEM: i64 = 12;
/// The kernel's half, where `[vsyscall]` is, which all processes are shown and none has.
pub(super) const KERNEL_HALF: u64 = 1 << 63;

/// Disjoint ranges of addresses: start to the first address above.
type Ranges = BTreeMap<u64, u64>;

/// Ranges of mapped addresses. Cost: a logarithm of the ranges, and those that are replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cover {
    ranges: Ranges,
    /// What a child does not get.
    kept: Ranges,
    /// Where the heap ends, once that is known.
    heap_end: Option<u64>,
}

impl Cover {
    /// What a call that succeeded, or the kernel, changed.
    pub(super) fn follow(&mut self, what: &What, page: u64) {
        let up = |address: u64| address.checked_next_multiple_of(page.max(1)).unwrap_or(address);
        match *what {
            What::KernelMapping(Mapping { start, end, source, .. }) => {
                self.map(start, end);
                if source == Source::Heap {
                    self.heap_end = Some(end);
                }
            }
            What::Call { call: Call::Madvise, args: [first, len, advice, ..], ret, .. }
                if ret == 0 || ret == -ENOMEM =>
            {
                match advice {
                    DONT_FORK => add(&mut self.kept, first, up(first.saturating_add(len))),
                    DO_FORK => remove(&mut self.kept, first, up(first.saturating_add(len))),
                    _ => {}
                }
            }
            What::Call { call, args, ret, .. } if call == Call::Brk || ret >= 0 => {
                let [first, len, new_len, flags, ..] = args;
                let end = |start: u64, len: u64| up(start.saturating_add(len));
                match call {
                    Call::Mmap => self.map(ret.cast_unsigned(), end(ret.cast_unsigned(), len)),
                    Call::Munmap => self.unmap(first, end(first, len)),
                    Call::Mremap => {
                        let (to, is_kept) = (ret.cast_unsigned(), holds(&self.kept, first));
                        if flags & MREMAP_DONTUNMAP == 0 {
                            self.unmap(first, end(first, len));
                        }
                        self.map(to, end(to, new_len));
                        if is_kept {
                            add(&mut self.kept, to, end(to, new_len));
                        }
                    }
                    Call::Brk => self.brk(up(ret.cast_unsigned())),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// What is mapped when the recording begins.
    pub(super) fn of(mappings: &[Mapping]) -> Self {
        let mut cover = Self::default();
        mappings
            .iter()
            .filter(|mapping| mapping.start < KERNEL_HALF)
            .for_each(|it| cover.map(it.start, it.end));
        cover
    }

    fn brk(&mut self, end: u64) {
        match self.heap_end.replace(end) {
            Some(before) if before < end => self.map(before, end),
            Some(before) => self.unmap(end, before),
            None => {}
        }
    }

    /// What a child has of it.
    pub(super) fn inherited(&self) -> Self {
        let mut child = self.clone();
        for (start, end) in std::mem::take(&mut child.kept) {
            remove(&mut child.ranges, start, end);
        }
        child
    }

    /// How many ranges it has.
    pub(super) fn len(&self) -> usize {
        self.ranges.len()
    }

    fn map(&mut self, start: u64, end: u64) {
        self.unmap(start, end);
        add(&mut self.ranges, start, end);
    }

    fn unmap(&mut self, start: u64, end: u64) {
        remove(&mut self.ranges, start, end);
        remove(&mut self.kept, start, end);
    }

    /// Neighbours joined.
    fn joined(&self) -> Vec<(u64, u64)> {
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (&start, &end) in &self.ranges {
            match joined.last_mut() {
                Some((_, last)) if *last == start => *last = end,
                _ => joined.push((start, end)),
            }
        }
        joined
    }

    /// What is mapped here and not there.
    fn without(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        other.ranges.iter().for_each(|(start, end)| rest.unmap(*start, *end));
        rest
    }

    /// Adds what is mapped in one of two and not in the other.
    pub(super) fn add_changes(&mut self, before: &Self, after: &Self) {
        for part in [before.without(after), after.without(before)] {
            part.ranges.iter().for_each(|(start, end)| self.map(*start, *end));
        }
    }

    /// Ranges that are mapped here or there and not both, but for what was `changed` meanwhile. The stack grows by itself and does not
    /// count.
    pub(super) fn differences(&self, mappings: &[Mapping], changed: &Self) -> u64 {
        let mut uncounted = changed.clone();
        let stacks = mappings.iter().filter(|mapping| mapping.source == Source::Stack);
        stacks.for_each(|stack| uncounted.map(stack.start, stack.end));
        let (ours, theirs) = (self.without(&uncounted), Self::of(mappings).without(&uncounted));
        (ours.without(&theirs).joined().len() + theirs.without(&ours).joined().len()) as u64
    }
}

/// Adds a range, in place of what is there.
fn add(ranges: &mut Ranges, start: u64, end: u64) {
    remove(ranges, start, end);
    if start < end {
        ranges.insert(start, end);
    }
}

fn remove(ranges: &mut Ranges, start: u64, end: u64) {
    if start >= end {
        return;
    }
    let before = ranges.range_mut(..start).next_back();
    if let Some((_, above)) = before.filter(|(_, above)| **above > start) {
        let rest = std::mem::replace(above, start);
        ranges.insert(start, rest);
    }
    while let Some((&low, &high)) = ranges.range(start..end).next() {
        ranges.remove(&low);
        if high > end {
            ranges.insert(end, high);
        }
    }
}

fn holds(ranges: &Ranges, address: u64) -> bool {
    ranges.range(..=address).next_back().is_some_and(|(_, end)| *end > address)
}
