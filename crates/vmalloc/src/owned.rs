//! Handles that own an `Arc` of their origin, for programs that cannot borrow it from a scope.
//!
//! Cost: one more atomic addition for each handle, and one for its drop.

use crate::block::Block;
use crate::error::{AllocError, PoolError};
use crate::mapping::as_bytes;
use crate::memory::VirtualMemory;
use crate::scrub::Zero;
use crate::slots::{Slot, SlotLayout, Slots};
use crate::stack::{Stack, StackLayout, StackPool};
use freehold_sys::SysError;
use std::fmt;
use std::ops::{Deref, Range};
use std::ptr::NonNull;
use std::sync::Arc;

/// A value that borrows from an `Arc`'s content, with that `Arc`. The value is dropped first. Its lifetime is hidden:
/// no reference with the longer lifetime leaves this module.
struct Owned<T, O> {
    value: T,
    owner: Arc<O>,
}

/// The content of an `Arc`, for as long as one of its clones lives.
///
/// # Safety
/// The caller keeps a clone for as long as it uses the reference.
unsafe fn kept<O>(owner: &Arc<O>) -> &'static O {
    // SAFETY:
    // - The content of an `Arc` neither moves nor ends while a clone lives.
    // - The caller keeps a clone.
    unsafe { NonNull::from(&**owner).as_ref() }
}

/// A [`Block`] that keeps its memory alive.
pub struct OwnedBlock(Owned<Block<'static>, VirtualMemory>);

/// A [`Slot`] that keeps its pool alive.
pub struct OwnedSlot(Owned<Slot<'static>, Owned<Slots<'static>, VirtualMemory>>);

/// A [`Stack`] that keeps its pool alive.
pub struct OwnedStack(Owned<Stack<'static>, Owned<StackPool<'static>, VirtualMemory>>);

/// [`Slots`] that keep their memory alive, shared by clones and by the slots that are held.
#[derive(Clone)]
pub struct OwnedSlots(Arc<Owned<Slots<'static>, VirtualMemory>>);

/// A [`StackPool`] that keeps its memory alive, shared by clones and by the stacks that are held.
#[derive(Clone)]
pub struct OwnedStacks(Arc<Owned<StackPool<'static>, VirtualMemory>>);

impl VirtualMemory {
    /// As [`VirtualMemory::alloc`], with a handle that keeps the memory alive.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cost
    /// As there, and two atomic additions.
    pub fn alloc_owned(self: &Arc<Self>, len_bytes: usize, zero: Zero) -> Result<OwnedBlock, AllocError> {
        // SAFETY: the block keeps a clone, and is dropped before it.
        let value = unsafe { kept(self) }.alloc(len_bytes, zero)?;
        Ok(OwnedBlock(Owned { value, owner: Arc::clone(self) }))
    }

    /// As [`VirtualMemory::slots`], with a pool that keeps the memory alive.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cost
    /// As there.
    pub fn slots_owned(self: &Arc<Self>, layout: &SlotLayout) -> Result<OwnedSlots, PoolError> {
        // SAFETY: the pool keeps a clone, and is dropped before it.
        let value = unsafe { kept(self) }.slots(layout)?;
        Ok(OwnedSlots(Arc::new(Owned { value, owner: Arc::clone(self) })))
    }

    /// As [`StackPool::with_layout`], with a pool that keeps the memory alive.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cost
    /// As there.
    pub fn stacks_owned(self: &Arc<Self>, layout: &StackLayout) -> Result<OwnedStacks, PoolError> {
        // SAFETY: the pool keeps a clone, and is dropped before it.
        let value = StackPool::with_layout(unsafe { kept(self) }, layout)?;
        Ok(OwnedStacks(Arc::new(Owned { value, owner: Arc::clone(self) })))
    }
}

impl OwnedSlots {
    /// As [`Slots::get`], with a slot that keeps the pool alive.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cost
    /// As there, and two atomic additions.
    pub fn get(&self) -> Result<OwnedSlot, AllocError> {
        // SAFETY: the slot keeps a clone, and is dropped before it.
        let value = unsafe { kept(&self.0) }.value.get()?;
        Ok(OwnedSlot(Owned { value, owner: Arc::clone(&self.0) }))
    }

    /// As [`Slots::get_accessible`], with a slot that keeps the pool alive.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cost
    /// As there, and two atomic additions.
    pub fn get_accessible(&self, bytes: usize) -> Result<OwnedSlot, AllocError> {
        // SAFETY: the slot keeps a clone, and is dropped before it.
        let value = unsafe { kept(&self.0) }.value.get_accessible(bytes)?;
        Ok(OwnedSlot(Owned { value, owner: Arc::clone(&self.0) }))
    }

    /// The pool, for its statistics, or for slots that borrow it. Cost: constant.
    #[must_use]
    pub fn pool(&self) -> &Slots<'_> {
        &self.0.value
    }
}

impl OwnedStacks {
    /// As [`StackPool::get`], with a stack that keeps the pool alive.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cost
    /// As there, and two atomic additions.
    pub fn get(&self) -> Result<OwnedStack, AllocError> {
        // SAFETY: the stack keeps a clone, and is dropped before it.
        let value = unsafe { kept(&self.0) }.value.get()?;
        Ok(OwnedStack(Owned { value, owner: Arc::clone(&self.0) }))
    }

    /// The pool, for its statistics, or for stacks that borrow it. Cost: constant.
    #[must_use]
    pub fn pool(&self) -> &StackPool<'_> {
        &self.0.value
    }
}

impl OwnedSlot {
    /// See [`Slot::as_ptr`]. Cost: constant.
    #[inline]
    #[must_use]
    pub fn as_ptr(&self) -> NonNull<u8> {
        self.0.value.as_ptr()
    }

    /// See [`Slot::number`]. Cost: constant.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.0.value.number()
    }

    /// See [`Slot::used`]. Cost: constant.
    pub fn used(&mut self, bytes: usize) {
        self.0.value.used(bytes);
    }

    /// See [`Slot::set_accessible`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cost
    /// As there.
    pub fn set_accessible(&mut self, bytes: usize) -> Result<(), SysError> {
        self.0.value.set_accessible(bytes)
    }

    /// See [`Slot::release`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cost
    /// As there.
    pub fn release(&mut self, bytes: Range<usize>) -> Result<(), SysError> {
        self.0.value.release(bytes)
    }

    /// The pool that it came from. Cost: an atomic addition.
    #[must_use]
    pub fn slots(&self) -> OwnedSlots {
        OwnedSlots(Arc::clone(&self.0.owner))
    }
}

impl Deref for OwnedStack {
    type Target = Stack<'static>;

    fn deref(&self) -> &Stack<'static> {
        &self.0.value
    }
}

impl OwnedBlock {
    /// See [`Block::as_ptr`]. Cost: constant.
    #[inline]
    #[must_use]
    pub fn as_ptr(&self) -> NonNull<u8> {
        self.0.value.as_ptr()
    }

    /// See [`Block::address`]. Cost: constant.
    #[inline]
    #[must_use]
    pub fn address(&self) -> u64 {
        self.0.value.address()
    }

    /// See [`Block::grow`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cost
    /// As there.
    pub fn grow(&mut self, len_bytes: usize, zero: Zero) -> Result<(), AllocError> {
        self.0.value.grow(len_bytes, zero)
    }

    /// See [`Block::release`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cost
    /// As there.
    pub fn release(&mut self, bytes: Range<usize>) -> Result<(), SysError> {
        self.0.value.release(bytes)
    }

    /// The memory that it came from. Cost: an atomic addition.
    #[must_use]
    pub fn memory(&self) -> Arc<VirtualMemory> {
        Arc::clone(&self.0.owner)
    }
}

as_bytes! { OwnedBlock { 0.value } OwnedSlot { 0.value } }

macro_rules! shown {
    ($($name:ident)*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.0.value).finish()
            }
        }
    )*};
}

shown! { OwnedBlock OwnedSlot OwnedStack OwnedSlots OwnedStacks }
