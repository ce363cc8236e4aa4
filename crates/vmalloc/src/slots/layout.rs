//! The layout of a pool's slots: sizes, guard, number, and their place within the stride.

use crate::builder::Advice;
use crate::error::PoolError;
use crate::mapping::whole_pages;
use crate::scrub::Zero;
use crate::zone::Shape;
use freehold_sys::page_bytes;

/// Slots per slab; a pool has a multiple of it.
pub(super) const SLAB_SLOTS: u64 = 32;
/// Bytes that a page table covers, and the distance of slots from a multiple of it.
pub(super) const TABLE_BYTES: usize = 2 << 20;
pub(super) const OFF_TABLE_BYTES: usize = 64 << 10;

/// The layout of a pool's slots. Sizes are rounded up to whole pages.
///
/// Cost: constant unless a method says otherwise.
#[derive(Clone, Debug)]
#[must_use]
pub struct SlotLayout {
    size_bytes: usize,
    guard: Guarding,
    keep_resident_bytes: usize,
    pub(super) count: Option<u64>,
    zero: Zero,
    align_bytes: usize,
    pub(super) accessible_bytes: usize,
    pub(super) told: Told,
}

/// What the system is told of a pool's mapping.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) name: String,
    pub(super) advice: Advice,
}

/// The guard of a slot.
#[derive(Clone, Copy, Debug)]
struct Guarding {
    bytes: usize,
    side: Side,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Behind,
    /// The side of stacks.
    Below,
    Both,
}

impl SlotLayout {
    /// Slots of `size_bytes`, zero when handed out, with a guard of one page after each. As many as fit into an eighth
    /// of the reservation. Cost: constant.
    pub fn new(size_bytes: usize) -> Self {
        Self {
            size_bytes,
            guard: Guarding { bytes: page_bytes(), side: Side::Behind },
            keep_resident_bytes: usize::MAX,
            count: None,
            zero: Zero::Yes,
            align_bytes: page_bytes(),
            accessible_bytes: usize::MAX,
            told: Told { name: "freehold slots".to_owned(), advice: Advice::default() },
        }
    }

    /// Bytes after each slot that fault; 0 for none.
    pub fn guard(self, guard_bytes: usize) -> Self {
        Self { guard: Guarding { bytes: guard_bytes, ..self.guard }, ..self }
    }

    /// As [`SlotLayout::guard`], with as many bytes before each slot. Neighbouring slots share the guard between them.
    /// Cost: constant; one more system call where a slot is first handed out.
    pub fn guard_both_sides(self, guard_bytes: usize) -> Self {
        Self { guard: Guarding { bytes: guard_bytes, side: Side::Both }, ..self }
    }

    /// The number of first bytes of a free slot that may stay resident; a free slot counts with these. The default is
    /// all. Touched pages beyond are decommitted after the drop, many slots at a time.
    pub fn keep_resident(self, keep_resident_bytes: usize) -> Self {
        Self { keep_resident_bytes, ..self }
    }

    /// The number of first bytes of a slot that are accessible when it is handed out; the rest faults. The default is
    /// all. See [`Slot::set_accessible`](crate::Slot::set_accessible).
    ///
    /// Cost: constant; with it, a system call when a slot is handed out whose last holder ended with another length. If
    /// no more bytes may stay resident, a slot with a longer accessible part is narrowed when it is dropped, by the
    /// call that decommits the pages.
    pub fn accessible(self, accessible_bytes: usize) -> Self {
        Self { accessible_bytes, ..self }
    }

    /// The alignment of each slot's address: a power of two up to the size of a slot. The default is a page. The stride
    /// grows to a multiple of it. For slots of that size without a guard, the stride is exactly the size.
    ///
    /// By default, the stride is the size plus the guard, each rounded up to whole pages. Slots are then aligned to the
    /// largest power of two that divides the stride, up to 64 KiB. Cost: constant.
    pub fn align(self, align_bytes: usize) -> Self {
        Self { align_bytes, ..self }
    }

    /// The number of slots, rounded up to a multiple of 32.
    pub fn count(self, count: u64) -> Self {
        Self { count: Some(count), ..self }
    }

    /// Whether slots are zero when they are handed out.
    pub fn zero(self, zero: Zero) -> Self {
        Self { zero, ..self }
    }

    /// The name of the mapping in `/proc/self/smaps`, if the kernel has such names. A name of more than 79 bytes, or
    /// with one of ``[]\$` `` or an unprintable character, is not shown there. Cost: constant.
    pub fn name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.told.name);
        self
    }

    /// As [`Builder::huge_pages`](crate::Builder::huge_pages), for the slots of this pool. Cost: constant.
    pub fn huge_pages(mut self) -> Self {
        self.told.advice.huge_pages = true;
        self
    }

    /// As [`Builder::node`](crate::Builder::node), for the slots of this pool. Cost: constant.
    pub fn node(mut self, node: u32) -> Self {
        self.told.advice.node = Some(node);
        self
    }

    /// The alignment of the first slot, and its distance from a multiple of that.
    pub(super) fn start(&self, shape: &Shape) -> (usize, usize) {
        let align = self.align_bytes.max(TABLE_BYTES);
        let before = if shape.both_sides { shape.guard.len() } else { 0 };
        match self.align_bytes > OFF_TABLE_BYTES {
            true => (align, before.next_multiple_of(self.align_bytes)),
            false => (align, before.next_multiple_of(OFF_TABLE_BYTES).max(OFF_TABLE_BYTES)),
        }
    }

    /// Stacks: the guard is below, slots keep their highest bytes, and are handed out with what their last user left.
    pub(crate) fn stacks(usable_bytes: usize) -> Self {
        let guard = Guarding { bytes: page_bytes(), side: Side::Below };
        let layout = Self { guard, ..Self::new(usable_bytes) };
        layout.zero(Zero::No).name("freehold stacks")
    }

    /// The places of data and guard.
    pub(super) fn shape(&self) -> Result<Shape, PoolError> {
        let too_large = PoolError::TooLarge { slot_bytes: None };
        if self.size_bytes == 0 || self.count == Some(0) {
            return Err(PoolError::Empty);
        }
        let data = whole_pages(self.size_bytes).ok_or(too_large)?;
        let guard = whole_pages(self.guard.bytes).ok_or(too_large)?;
        let needed = data.checked_add(guard).filter(|&needed| needed < 1 << 46).ok_or(too_large)?;
        let is_align = self.align_bytes.is_power_of_two() && self.align_bytes <= data.max(page_bytes());
        if !is_align {
            return Err(PoolError::Alignment {
                align_bytes: self.align_bytes as u64,
                slot_bytes: data as u64,
            });
        }
        let stride = needed.next_multiple_of(self.align_bytes.max(page_bytes()));
        let both_sides = guard > 0 && self.guard.side == Side::Both;
        let (data, guard) = match self.guard.side {
            Side::Below => (stride - data..stride, stride - data - guard..stride - data),
            // Only the guard of the slot before lies before a slot.
            Side::Both if both_sides => (0..data, data..stride),
            Side::Behind | Side::Both => (0..data, data..data + guard),
        };
        let zeroed = self.zero == Zero::Yes;
        let kept = self.keep_resident_bytes.min(data.len()) / page_bytes() * page_bytes();
        let keeps_last = self.guard.side == Side::Below;
        let waits = zeroed || kept < data.len();
        Ok(Shape { stride: stride as u64, data, guard, both_sides, kept, keeps_last, zeroed, waits })
    }
}
