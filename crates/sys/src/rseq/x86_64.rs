//! The sequence on x86-64, where the thread pointer is the base of segment `fs`.

use super::{CPU_ID, Sequence};
use std::arch::{asm, global_asm};

// Weak: a C library without them, or before 2.35, leaves their addresses null.
global_asm!(".weak __rseq_offset", ".weak __rseq_size");

/// The C library's offset of the area from the thread pointer, and its size; `None` if it has no such symbols.
pub(super) fn symbols() -> Option<(isize, u32)> {
    let (offset, size): (*const isize, *const u32);
    // SAFETY: both instructions load an address from the table that the linker fills, null for a weak symbol that is
    // missing.
    unsafe {
        asm!(
            "mov {offset}, qword ptr [rip + __rseq_offset@GOTPCREL]",
            "mov {size}, qword ptr [rip + __rseq_size@GOTPCREL]",
            offset = out(reg) offset,
            size = out(reg) size,
            options(nostack, preserves_flags, readonly, pure),
        );
    }
    if offset.is_null() || size.is_null() {
        return None;
    }
    // SAFETY: the symbols are constants of these types, written before `main`.
    Some(unsafe { (offset.read(), size.read()) })
}

/// The thread pointer, which the first word behind it holds.
pub(super) fn thread_pointer() -> *mut u8 {
    let pointer: *mut u8;
    // SAFETY: every thread of this ABI has its thread pointer there.
    unsafe {
        asm!("mov {}, qword ptr fs:[0]", out(reg) pointer, options(nostack, preserves_flags, readonly));
    }
    pointer
}

/// Reads a field of this thread's area.
///
/// # Safety
/// There is an area at `area`, and it has a field of 32 bits at `field`.
#[inline]
pub(super) unsafe fn read(area: isize, field: u32) -> u32 {
    let value;
    // SAFETY: one load from this thread's area, which exists as the caller says.
    unsafe {
        asm!(
            "mov {value:e}, dword ptr fs:[{area} + {field}]",
            value = lateout(reg) value,
            area = in(reg) area,
            field = in(reg) u64::from(field),
            options(nostack, preserves_flags, readonly),
        );
    }
    value
}

/// # Safety
/// As [`Sequence::add`]; and there is an area.
#[inline]
pub(super) unsafe fn add(sequence: &Sequence, slot: *mut u64, value: u64) -> Option<u64> {
    let (index, old): (u64, u64);
    // SAFETY:
    // - `rseq_cs` (8) of this thread's area is ours to write; the descriptor lives as long as the code.
    // - The index is compared with the limit within the sequence, so the slot is one of those that the caller vouches for.
    // - A thread without a registered area leaves before the store: its `cpu_id` is negative. Its index is set to all ones.
    // - Inputs are not changed before the commit, so the sequence may start again from any point of it.
    // - Nothing is pushed or called; the abort handler has the signature before it, which the kernel asks for.
    unsafe {
        asm!(
            "2:",
            "lea {old}, [rip + 7f]",
            "mov qword ptr fs:[{area} + 8], {old}",
            "3:",
            "mov {index:e}, -1",
            "cmp dword ptr fs:[{area} + {cpu_id}], 0",
            "jl 4f",
            "mov {index:e}, dword ptr fs:[{area} + {field}]",
            "cmp {index:e}, {limit:e}",
            "jae 4f",
            "mov {at}, {index}",
            "imul {at}, {stride}",
            "mov {old}, qword ptr [{slot} + {at}]",
            "lea {new}, [{old} + {value}]",
            "mov qword ptr [{slot} + {at}], {new}",
            "4:",
            ".pushsection __rseq_cs, \"aw\", @progbits",
            ".balign 32",
            "7:",
            ".long 0, 0",
            ".quad 3b, 4b - 3b, 5f",
            ".popsection",
            ".pushsection __rseq_failure, \"ax\", @progbits",
            // An undefined instruction around the signature, 0x53053053.
            ".byte 0x0f, 0xb9, 0x3d",
            ".long 0x53053053",
            "5:",
            "jmp 2b",
            ".popsection",
            index = out(reg) index,
            old = out(reg) old,
            at = out(reg) _,
            new = out(reg) _,
            area = in(reg) sequence.area,
            field = in(reg) u64::from(sequence.field),
            limit = in(reg) sequence.limit,
            stride = in(reg) sequence.stride_bytes,
            slot = in(reg) slot,
            value = in(reg) value,
            cpu_id = const CPU_ID,
            options(nostack),
        );
    }
    (index < u64::from(sequence.limit)).then_some(old)
}
