//! Code of cranelift-jit in a space for code.

use cranelift_jit::{BranchProtection, JITMemoryKind, JITMemoryProvider};
use cranelift_module::{ModuleError, ModuleResult};
use freehold_vmalloc::code::{CodeModule, Contents};
use std::io;
use std::mem::ManuallyDrop;

/// A module whose code stays until it is freed by the JIT, which promises its users no less.
pub struct Memory(pub ManuallyDrop<CodeModule>);

impl JITMemoryProvider for Memory {
    fn allocate(&mut self, size: usize, align: u64, kind: JITMemoryKind) -> io::Result<*mut u8> {
        let contents = match kind {
            JITMemoryKind::Executable => Contents::Code,
            JITMemoryKind::ReadOnly => Contents::Constants,
            JITMemoryKind::Writable => Contents::Data,
        };
        let start = self.0.alloc(contents, size, align as usize);
        start.map(|start| start.as_ptr()).map_err(io::Error::other)
    }

    unsafe fn free_memory(&mut self) {
        // SAFETY: the JIT calls this once, and uses the module no more.
        unsafe { ManuallyDrop::drop(&mut self.0) }
    }

    fn finalize(&mut self, _: BranchProtection) -> ModuleResult<()> {
        // SAFETY: the JIT has written what it allocated before.
        unsafe { self.0.seal() }.map_err(|error| ModuleError::Backend(error.into()))
    }
}
