//! The record of a block's free runs. A chunk has such a record of itself, as if it were one block.
//!
//! Invariant P3, hints promise no more than there is: `contig_hint` and `scan_hint` bits are free where those runs
//! start, and `scan_hint` is no longer than `contig_hint`; `left_free` and `right_free` are no more than the runs at
//! the edges; nothing below `first_free` is free. Hints may promise less: a scan hint that becomes the longest run is
//! only the longest *known* one, as the bits before it are not searched again. A run of length 0 keeps its old start.

use super::Rules;
use core::ops::Range;
use freehold_percpu::placement::ObjectMap;
use freehold_units::{Probe, Work};

/// The hints of a block; all in bits.
#[doc(alias = "pcpu_block_md")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockMd {
    pub(super) scan_hint: u32,
    pub(super) scan_hint_start: u32,
    pub(super) contig_hint: u32,
    pub(super) contig_hint_start: u32,
    pub(super) left_free: u32,
    pub(super) right_free: u32,
    pub(super) first_free: u32,
    /// Bits of the block or chunk.
    pub(super) bits: u32,
}

/// Whether a run and an object overlap. An empty run overlaps an object around its start.
#[inline]
fn meets(run: u32, len: u32, object: &Range<u32>) -> bool {
    run < object.end && object.start < run + len
}

/// Whether `start` is better aligned than `than`: at the very start, or with more trailing zeros.
#[inline]
pub(super) fn better_aligned(start: u32, than: u32) -> bool {
    than != 0 && (start == 0 || start.trailing_zeros() > than.trailing_zeros())
}

impl BlockMd {
    /// The record of a free block.
    pub(super) fn free(bits: u32) -> Self {
        Self { left_free: bits, right_free: bits, contig_hint: bits, bits, ..Self::default() }
    }

    /// Updates the record for an object that covers the whole block.
    pub(super) fn fill(&mut self) {
        self.scan_hint = 0;
        self.contig_hint = 0;
        self.left_free = 0;
        self.right_free = 0;
        self.first_free = self.bits;
    }

    /// Whether an object overlaps the longest run.
    #[inline]
    pub(super) fn contig_meets(&self, object: &Range<u32>) -> bool {
        meets(self.contig_hint_start, self.contig_hint, object)
    }

    /// Whether an object overlaps the run of the scan hint.
    #[inline]
    pub(super) fn scan_meets(&self, object: &Range<u32>) -> bool {
        meets(self.scan_hint_start, self.scan_hint, object)
    }

    /// The bit where a search for `bits` may start: after the scan hint's run if they do not fit in it.
    #[inline]
    pub(super) fn next_hint(&self, bits: u32) -> u32 {
        if self.scan_hint != 0 && self.contig_hint_start > self.scan_hint_start && bits > self.scan_hint {
            self.scan_hint_start + self.scan_hint
        } else {
            self.first_free
        }
    }

    /// Updates the record for a free run, which is complete at both ends.
    #[doc(alias = "pcpu_block_update")]
    #[inline]
    pub(super) fn offer<R: Rules>(&mut self, run: Range<u32>) {
        let (start, len) = (run.start, run.end - run.start);
        self.first_free = self.first_free.min(start);
        if start == 0 {
            self.left_free = len;
        }
        if run.end == self.bits {
            self.right_free = len;
        }
        if len > self.contig_hint {
            self.offer_longer(start, len);
        } else if len == self.contig_hint {
            self.offer_equal(start, len);
        } else if start < self.contig_hint_start
            && (len > self.scan_hint || (len == self.scan_hint && start > self.scan_hint_start))
        {
            self.scan_hint_start = start;
            self.scan_hint = len;
        }
        if !R::SCAN_HINT {
            self.scan_hint = 0;
        }
    }

    /// Makes the run the longest; the former longest may become the scan hint.
    fn offer_longer(&mut self, start: u32, len: u32) {
        if start <= self.contig_hint_start {
            self.scan_hint = 0;
        } else if self.contig_hint > self.scan_hint {
            self.scan_hint_start = self.contig_hint_start;
            self.scan_hint = self.contig_hint;
        } else if start < self.scan_hint_start {
            self.scan_hint = 0;
        }
        self.contig_hint_start = start;
        self.contig_hint = len;
    }

    /// Keeps the better aligned of two longest runs; the other may become the scan hint.
    fn offer_equal(&mut self, start: u32, len: u32) {
        if better_aligned(start, self.contig_hint_start) {
            self.contig_hint_start = start;
            if start < self.scan_hint_start && self.contig_hint > self.scan_hint {
                self.scan_hint = 0;
            }
        } else if start > self.scan_hint_start || self.contig_hint > self.scan_hint {
            self.scan_hint_start = start;
            self.scan_hint = len;
        }
    }

    /// Makes the scan hint the longest run, if `use_scan` and there is one. Returns the bit from which to search for
    /// longer ones.
    pub(super) fn promote(&mut self, use_scan: bool) -> u32 {
        let promoted = use_scan && self.scan_hint != 0;
        if promoted {
            self.contig_hint_start = self.scan_hint_start;
        }
        self.contig_hint = if promoted { self.scan_hint } else { 0 };
        self.scan_hint = 0;
        if promoted { self.contig_hint_start + self.contig_hint } else { self.first_free }
    }

    /// Recomputes the longest run from the map; the block starts at bit `base`.
    #[doc(alias = "pcpu_block_refresh_hint")]
    pub(super) fn rescan<R: Rules>(&mut self, used: &ObjectMap, base: u32, probe: &mut impl Probe) {
        let end = base + self.bits;
        let mut at = base + self.promote(true);
        probe.count(Work::BlockRescanned, 1);
        probe.count(Work::BitScanned, u64::from(end - at));
        self.right_free = 0;
        loop {
            let start = used.next_clear(at..end);
            if start == end {
                break;
            }
            at = used.next_set(start..end);
            self.offer::<R>(start - base..at - base);
        }
    }
}
