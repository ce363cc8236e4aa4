//! Memories of wasmer from a pool of slots: what a user writes.
#![allow(unsafe_code, reason = "the traits are unsafe, as they must be told the truth")]

use freehold_vmalloc::OwnedSlot;
use freehold_vmalloc::OwnedSlots;
use std::ptr::NonNull;
use wasmer::sys::{BaseTunables, Tunables};
use wasmer_types::{MemoryError, MemoryType, Pages, TableType, WASM_PAGE_SIZE};
use wasmer_vm::{
    LinearMemory, MemoryStyle, TableStyle, VMMemory, VMMemoryDefinition, VMTable, VMTableDefinition,
};

/// Slots are 4 GiB, with guards of 8 GiB: as far as an address of code and a constant reach.
pub struct Memories {
    pub base: BaseTunables,
    pub slots: OwnedSlots,
}

#[derive(Debug)]
struct Memory {
    slot: OwnedSlot,
    ty: MemoryType,
    style: MemoryStyle,
    /// Where code finds the memory. It is the instance's, which has the memory.
    definition: NonNull<VMMemoryDefinition>,
}

// SAFETY: an instance and its memories are one thread's at a time.
unsafe impl Send for Memory {}

impl Memory {
    fn set_size(&mut self, size: Pages) -> Result<(), MemoryError> {
        let bytes = size.bytes().0;
        self.slot.set_accessible(bytes).map_err(|error| MemoryError::Region(error.to_string()))?;
        let definition = VMMemoryDefinition { base: self.slot.as_ptr().as_ptr(), current_length: bytes };
        // SAFETY: the instance lives, and nothing of it runs.
        unsafe { self.definition.write(definition) };
        Ok(())
    }
}

impl LinearMemory for Memory {
    fn ty(&self) -> MemoryType {
        MemoryType { minimum: self.size(), ..self.ty }
    }

    fn size(&self) -> Pages {
        Pages((self.slot.len() / WASM_PAGE_SIZE) as u32)
    }

    fn style(&self) -> MemoryStyle {
        self.style
    }

    fn grow(&mut self, delta: Pages) -> Result<Pages, MemoryError> {
        let current = self.size();
        let grown =
            current.checked_add(delta).filter(|&size| size <= self.ty.maximum.unwrap_or(Pages::max_value()));
        self.set_size(grown.ok_or(MemoryError::CouldNotGrow { current, attempted_delta: delta })?)?;
        Ok(current)
    }

    fn vmmemory(&self) -> NonNull<VMMemoryDefinition> {
        self.definition
    }

    fn try_clone(&self) -> Result<Box<dyn LinearMemory>, MemoryError> {
        Err(MemoryError::MemoryNotShared)
    }

    fn copy(&mut self) -> Result<Box<dyn LinearMemory>, MemoryError> {
        Err(MemoryError::MemoryNotShared)
    }
}

impl Tunables for Memories {
    fn memory_style(&self, memory: &MemoryType) -> MemoryStyle {
        self.base.memory_style(memory)
    }

    fn table_style(&self, table: &TableType) -> TableStyle {
        self.base.table_style(table)
    }

    fn create_host_memory(&self, ty: &MemoryType, style: &MemoryStyle) -> Result<VMMemory, MemoryError> {
        self.base.create_host_memory(ty, style)
    }

    unsafe fn create_vm_memory(
        &self,
        ty: &MemoryType,
        style: &MemoryStyle,
        definition: NonNull<VMMemoryDefinition>,
    ) -> Result<VMMemory, MemoryError> {
        let slot = self.slots.get().map_err(|error| MemoryError::Region(error.to_string()))?;
        let mut memory = Memory { slot, ty: *ty, style: *style, definition };
        memory.set_size(ty.minimum)?;
        Ok(VMMemory(Box::new(memory)))
    }

    fn create_host_table(&self, ty: &TableType, style: &TableStyle) -> Result<VMTable, String> {
        self.base.create_host_table(ty, style)
    }

    unsafe fn create_vm_table(
        &self,
        ty: &TableType,
        style: &TableStyle,
        definition: NonNull<VMTableDefinition>,
    ) -> Result<VMTable, String> {
        // SAFETY: as the caller says.
        unsafe { self.base.create_vm_table(ty, style, definition) }
    }
}
