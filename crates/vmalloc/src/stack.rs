//! Stacks for coroutines, by the hundred thousand: guarded without a mapping for each, and resident.
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
    slots: Slots<'a>,
}

/// What the stacks of a pool are like. Sizes are rounded up to whole pages.
#[derive(Clone, Debug)]
#[must_use]
pub struct StackLayout {
    slots: SlotLayout,
}

impl StackLayout {
    /// Stacks of which `usable_bytes` can be used, with a guard of one page below each.
    ///
    /// Cost: constant.
    pub fn new(usable_bytes: usize) -> Self {
        Self { slots: SlotLayout::stacks(usable_bytes) }
    }

    /// How many stacks there are, rounded up to a multiple of 32; an eighth of the reservation if this is not called. Cost: constant.
    pub fn count(self, count: u64) -> Self {
        Self { slots: self.slots.count(count) }
    }

    /// Bytes below each stack that fault, one page if this is not called. Cost: constant.
    pub fn guard(self, guard_bytes: usize) -> Self {
        Self { slots: self.slots.guard(guard_bytes) }
    }

    /// How many of the highest bytes of a free stack may keep their pages, all if this is not called. What once was deeper goes
    /// back to the system, 64 dropped stacks at a time, which a page scan tells. Cost: constant; with it a drop takes a lock.
    pub fn keep_resident(self, keep_resident_bytes: usize) -> Self {
        Self { slots: self.slots.keep_resident(keep_resident_bytes) }
    }

    /// Stacks that are zero when they are handed out, as slots are. Cost: constant.
    pub fn zeroed(self) -> Self {
        Self { slots: self.slots.zero(Zero::Yes) }
    }
}

impl<'a> StackPool<'a> {
    /// A pool of as many stacks of `size_bytes` as fit into an eighth of the reservation. The lowest page of each is its guard.
    ///
    /// # Errors
    /// See [`VirtualMemory::slots`]. A stack of one page has nothing but its guard, and is [`PoolError::Empty`].
    ///
    /// # Cost
    /// As [`VirtualMemory::slots`].
    pub fn new(vm: &'a VirtualMemory, size_bytes: usize) -> Result<Self, PoolError> {
        Self::with_layout(vm, &StackLayout::new(size_bytes.saturating_sub(page_bytes())))
    }

    /// As [`StackPool::new`], with `count` stacks, rounded up to a multiple of 32.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cost
    /// As there.
    pub fn with_count(vm: &'a VirtualMemory, size_bytes: usize, count: u64) -> Result<Self, PoolError> {
        Self::with_layout(vm, &StackLayout::new(size_bytes.saturating_sub(page_bytes())).count(count))
    }

    /// A pool of stacks that are as the layout says.
    ///
    /// # Errors
    /// See [`VirtualMemory::slots`].
    ///
    /// # Cost
    /// As there.
    pub fn with_layout(vm: &'a VirtualMemory, layout: &StackLayout) -> Result<Self, PoolError> {
        Ok(Self { slots: vm.slots(&layout.slots)? })
    }

    /// Hands out a stack. It holds what its last user left. Dropped, it goes back to the pool.
    ///
    /// # Errors
    /// See [`Slots::get`].
    ///
    /// # Cost
    /// Resident, two atomic exchanges and two additions with its drop.
    #[inline]
    pub fn get(&self) -> Result<Stack<'_>, AllocError> {
        Ok(Stack { slot: self.slots.get()? })
    }

    pub(crate) fn slots(&self) -> &Slots<'a> {
        &self.slots
    }

    /// How many stacks there are, held or not.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.slots.count()
    }

    /// The number of the held stack that has `address`, its guard included: whose a fault was.
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

/// A stack that somebody holds, from [`StackPool::get`]. Who runs on it keeps it until it is left. A forgotten stack
/// (`mem::forget`) is leaked until its pool is dropped, and a forgotten pool until the [`VirtualMemory`] is.
pub struct Stack<'a> {
    slot: Slot<'a>,
}

impl<'a> Stack<'a> {
    pub(crate) fn of(slot: Slot<'a>) -> Self {
        Self { slot }
    }
}

impl Stack<'_> {
    /// Behind its highest byte, at a multiple of a page. Stacks start here and grow down.
    ///
    /// Cost: constant.
    #[inline]
    #[must_use]
    pub fn base(&self) -> NonNull<u8> {
        let len = self.slot.len();
        // A slot does not end where the address space does.
        NonNull::new(self.slot.as_ptr().as_ptr().wrapping_add(len)).expect("V1: a slot is in the mapping")
    }

    /// Its lowest byte. Below is the guard.
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
