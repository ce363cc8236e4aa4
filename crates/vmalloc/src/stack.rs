//! Stacks for coroutines, by the hundred thousand: resident, and guarded without a mapping for each.
//!
//! ```text
//!   start                  limit                                  base
//!     | guard, one page      | ......... grows down <--------------- |
//! ```

use crate::error::{AllocError, PoolError};
use crate::memory::VirtualMemory;
use crate::scrub::Zero;
use crate::slots::{Slot, SlotLayout, Slots};
use freehold_sys::page_bytes;
use std::fmt;
use std::ptr::NonNull;

/// A pool of stacks of one size.
///
/// ```
/// use freehold_vmalloc::{StackPool, VirtualMemory};
///
/// let vm = VirtualMemory::builder().reserve(1 << 30).build()?;
/// let pool = StackPool::new(&vm, 256 << 10)?;
/// let stack = pool.get()?;
/// assert_eq!(stack.base().addr().get() - stack.limit().addr().get(), (256 << 10) - 4096);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StackPool<'a> {
    pub(crate) slots: Slots<'a>,
}

/// The layout of a pool's stacks. Sizes are rounded up to whole pages.
#[derive(Clone, Debug)]
#[must_use]
pub struct StackLayout {
    slots: SlotLayout,
}

impl StackLayout {
    /// Stacks with `usable_bytes` usable bytes, and a guard of one page below each.
    ///
    /// Cost: constant.
    pub fn new(usable_bytes: usize) -> Self {
        Self { slots: SlotLayout::stacks(usable_bytes) }
    }

    /// The number of stacks, rounded up to a multiple of 32. The default fills an eighth of the reservation. Cost:
    /// constant.
    pub fn count(self, count: u64) -> Self {
        Self { slots: self.slots.count(count) }
    }

    /// Bytes below each stack that fault. The default is one page; with 0 bytes, an overflow writes to another stack, and
    /// a coroutine of corosensei on such a stack panics. Cost: constant.
    pub fn guard(self, guard_bytes: usize) -> Self {
        Self { slots: self.slots.guard(guard_bytes) }
    }

    /// The number of highest bytes of a free stack that may stay resident. The default is all. Deeper pages that were
    /// touched are decommitted, 64 dropped stacks at a time, with a page scan. Cost: constant; with it a drop takes a
    /// lock.
    pub fn keep_resident(self, keep_resident_bytes: usize) -> Self {
        Self { slots: self.slots.keep_resident(keep_resident_bytes) }
    }

    /// Makes stacks zero when they are handed out, as slots are. Cost: constant.
    pub fn zeroed(self) -> Self {
        Self { slots: self.slots.zero(Zero::Yes) }
    }
}

impl<'a> StackPool<'a> {
    /// A pool of as many stacks of `size_bytes` as fit into an eighth of the reservation. The lowest page of each is
    /// its guard.
    ///
    /// # Errors
    /// See [`VirtualMemory::slots`]. A stack of one page would consist of its guard, and is [`PoolError::Empty`].
    ///
    /// # Cost
    /// As [`VirtualMemory::slots`].
    pub fn new(vm: &'a VirtualMemory, size_bytes: usize) -> Result<Self, PoolError> {
        Self::with_layout(vm, &StackLayout::new(size_bytes.saturating_sub(page_bytes())))
    }

    /// As [`StackPool::new`], with `count` stacks, rounded up to a multiple of 32.
    ///
    /// # Errors
    /// As for [`StackPool::new`].
    ///
    /// # Cost
    /// As for [`StackPool::new`].
    pub fn with_count(vm: &'a VirtualMemory, size_bytes: usize, count: u64) -> Result<Self, PoolError> {
        Self::with_layout(vm, &StackLayout::new(size_bytes.saturating_sub(page_bytes())).count(count))
    }

    /// A pool of stacks with a layout.
    ///
    /// # Errors
    /// See [`VirtualMemory::slots`].
    ///
    /// # Cost
    /// As [`VirtualMemory::slots`].
    pub fn with_layout(vm: &'a VirtualMemory, layout: &StackLayout) -> Result<Self, PoolError> {
        Ok(Self { slots: vm.slots(&layout.slots)? })
    }

    /// Hands out a stack, with what its last user left in it. Dropping the stack returns it to the pool.
    ///
    /// # Errors
    /// See [`Slots::get`].
    ///
    /// # Cost
    /// If resident, two atomic exchanges and two additions including the drop.
    #[inline]
    pub fn get(&self) -> Result<Stack<'_>, AllocError> {
        Ok(Stack { slot: self.slots.get()? })
    }

    /// The number of stacks, held or not.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.slots.count()
    }

    /// The number of the held stack that contains `address`, including its guard. Identifies the stack of a fault. A
    /// stack that was dropped may still be found, as by [`Slots::locate`].
    ///
    /// Cost: constant.
    #[must_use]
    pub fn locate(&self, address: u64) -> Option<u64> {
        self.slots.locate(address)
    }
}

impl fmt::Debug for StackPool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StackPool").field(&self.slots).finish()
    }
}

/// A held stack, from [`StackPool::get`]. Code that runs on it must keep it until it leaves the stack. A forgotten
/// stack (`mem::forget`) is leaked until its pool is dropped, and a forgotten pool until the [`VirtualMemory`] is.
pub struct Stack<'a> {
    pub(crate) slot: Slot<'a>,
}

impl Stack<'_> {
    /// The address after its highest byte, a multiple of a page. Execution starts here and the stack grows down.
    ///
    /// Cost: constant.
    #[inline]
    #[must_use]
    pub fn base(&self) -> NonNull<u8> {
        let len = self.slot.len();
        // A slot never ends at the end of the address space.
        NonNull::new(self.slot.as_ptr().as_ptr().wrapping_add(len)).expect("V1: a slot is in the mapping")
    }

    /// Its lowest byte. The guard is below.
    ///
    /// Cost: constant.
    #[inline]
    #[must_use]
    pub fn limit(&self) -> NonNull<u8> {
        self.slot.as_ptr()
    }

    /// The guard's lowest byte.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn guard(&self) -> NonNull<u8> {
        let lowest = self.limit().as_ptr().wrapping_sub(self.slot.guard_bytes());
        NonNull::new(lowest).expect("V4: a guard is in the mapping")
    }

    /// Its number in the pool.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.slot.number()
    }
}

impl fmt::Debug for Stack<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stack").field("base", &self.base()).field("limit", &self.limit()).finish()
    }
}
