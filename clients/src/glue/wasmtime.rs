//! Memories and fiber stacks of wasmtime from pools of slots and stacks.

use freehold_vmalloc::{OwnedSlot, OwnedSlots, OwnedStack, OwnedStacks};
use std::ops::Range;
use wasmtime::{Error, LinearMemory, MemoryCreator, MemoryType, StackCreator, StackMemory};

/// Slots are as long as the engine's `memory_reservation`, with guards of its `memory_guard_size`.
pub struct Memories(pub OwnedSlots);

struct Memory(OwnedSlot);

// SAFETY: a slot is zero, its holder's alone, and as long and guarded as the engine asks.
unsafe impl MemoryCreator for Memories {
    fn new_memory(
        &self,
        _: MemoryType,
        least: usize,
        _: Option<usize>,
        _: Option<usize>,
        _: usize,
    ) -> Result<Box<dyn LinearMemory>, String> {
        Ok(Box::new(Memory(self.0.get_accessible(least).map_err(|error| error.to_string())?)))
    }
}

// SAFETY: a slot never moves, and faults behind what is accessible.
unsafe impl LinearMemory for Memory {
    fn byte_size(&self) -> usize {
        self.0.len()
    }

    fn byte_capacity(&self) -> usize {
        self.0.slots().pool().slot_bytes()
    }

    fn grow_to(&mut self, bytes: usize) -> Result<(), Error> {
        Ok(self.0.set_accessible(bytes)?)
    }

    fn as_ptr(&self) -> *mut u8 {
        self.0.as_ptr().as_ptr()
    }
}

/// Stacks are as long as the engine's `async_stack_size`.
pub struct Stacks(pub OwnedStacks);

struct Fiber(OwnedStack);

// SAFETY: a stack is its holder's alone, with a guard below.
unsafe impl StackCreator for Stacks {
    fn new_stack(&self, _: usize, _: bool) -> Result<Box<dyn StackMemory>, Error> {
        Ok(Box::new(Fiber(self.0.get()?)))
    }
}

// SAFETY: as above.
unsafe impl StackMemory for Fiber {
    fn top(&self) -> *mut u8 {
        self.0.base().as_ptr()
    }

    fn range(&self) -> Range<usize> {
        self.0.limit().addr().get()..self.0.base().addr().get()
    }

    fn guard_range(&self) -> Range<*mut u8> {
        self.0.guard().as_ptr()..self.0.limit().as_ptr()
    }
}
