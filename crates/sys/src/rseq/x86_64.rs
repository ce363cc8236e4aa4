//! The sequence on x86-64, where the thread pointer is the base of segment `fs`.

use super::Sequence;
use std::arch::asm;
use std::mem::offset_of;

/// The C library's offset of the area from the thread pointer, and its size; `None` if it has no such symbols.
pub(super) fn symbols() -> Option<(isize, u32)> {
    let (offset, size): (*const isize, *const u32);
    // SAFETY: both instructions load an address from the table that the linker fills; a missing weak symbol has a null
    // address.
    unsafe {
        asm!(
            // Weak: a C library without them, or before 2.35, leaves their addresses null. Declared here, in the object
            // that refers to them.
            ".weak __rseq_offset",
            ".weak __rseq_size",
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

/// The thread pointer. The first word that it points to holds it, too.
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
/// There is an area at `area`, with a 32-bit field at `field`.
#[inline]
pub(super) unsafe fn read(area: isize, field: u32) -> u32 {
    let value;
    // SAFETY: one load from this thread's area, which exists as the caller guarantees.
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

/// The sequence around `$body`, which goes from the index in `{at}` to the commit. Jumps to `$absent` if the thread has
/// no registered area, whose `cpu_id` is negative, or if the index is at or above the limit.
///
/// SAFETY of each use:
/// - This code may write `rseq_cs` (8) of this thread's area; the descriptor lives as long as the code.
/// - The index is compared with the limit within the sequence, so the slot is one of those that the caller guarantees.
/// - Inputs are not changed before the commit, so the sequence may restart from any point.
/// - Nothing is pushed or called; the signature is before the abort handler, as the kernel requires.
macro_rules! sequence {
    ($sequence:ident, $area:ident, $slot:ident, $absent:literal, [$($index:literal),+], [$($body:literal),+], $($operand:tt)+) => {
        asm!(
            "2:",
            "lea {at}, [rip + 7f]",
            "mov qword ptr fs:[{area} + 8], {at}",
            "3:",
            $($index,)+
            "cmp {at:e}, dword ptr [{sequence} + {limit}]",
            concat!("jae ", $absent),
            "imul {at}, qword ptr [{sequence} + {stride}]",
            $($body,)+
            "4:",
            ".pushsection __rseq_cs, \"aw\", @progbits",
            ".balign 32",
            "7:",
            ".long 0, 0",
            ".quad 3b, 4b - 3b, 5f",
            ".popsection",
            ".pushsection __rseq_failure, \"ax\", @progbits",
            // An undefined instruction that contains the signature, 0x53053053.
            ".byte 0x0f, 0xb9, 0x3d",
            ".long 0x53053053",
            "5:",
            "jmp 2b",
            ".popsection",
            area = in(reg) $sequence.$area,
            sequence = in(reg) $sequence,
            slot = in(reg) $slot,
            limit = const offset_of!(Sequence, limit),
            stride = const offset_of!(Sequence, stride_bytes),
            $($operand)+
            options(nostack),
        )
    };
}

/// Adds by `cpu_id`. A negative one is not below the limit either.
///
/// # Safety
/// As [`Sequence::add`]; and there is an area.
#[inline]
pub(super) unsafe fn add_by_cpu_id(sequence: &Sequence, slot: *mut u64, value: u64) -> bool {
    // SAFETY: see `sequence!`.
    unsafe {
        sequence!(
            sequence, area_by_cpu_id, slot, "{absent}",
            ["mov {at:e}, dword ptr fs:[{area} + 4]"],
            ["add qword ptr [{slot} + {at}], {value}"],
            at = out(reg) _,
            value = in(reg) value,
            absent = label { return false },
        );
    }
    true
}

/// Adds by `mm_cid`. A thread without a registered area has one as well, so `cpu_id` is checked, too.
///
/// # Safety
/// As [`Sequence::add`]; and there is an area, which has an `mm_cid`.
#[inline]
pub(super) unsafe fn add_by_mm_cid(sequence: &Sequence, slot: *mut u64, value: u64) -> bool {
    // SAFETY: see `sequence!`.
    unsafe {
        sequence!(
            sequence, area, slot, "{absent}",
            [
                "cmp dword ptr fs:[{area} + 4], 0",
                "jl {absent}",
                "mov {at:e}, dword ptr fs:[{area} + 24]"
            ],
            ["add qword ptr [{slot} + {at}], {value}"],
            at = out(reg) _,
            value = in(reg) value,
            absent = label { return false },
        );
    }
    true
}

/// Adds by the sequence's field, and returns the previous value.
///
/// # Safety
/// As [`Sequence::add`]; and there is an area.
#[inline]
pub(super) unsafe fn fetch_add(sequence: &Sequence, slot: *mut u64, value: u64) -> Option<u64> {
    let (at, old): (u64, u64);
    // SAFETY: see `sequence!`. If nothing is added, `at` is 0, which is no slot's address.
    unsafe {
        sequence!(
            sequence, area, slot, "8f",
            [
                "cmp dword ptr fs:[{area} + 4], 0",
                "jl 8f",
                "mov {at:e}, dword ptr fs:[{area} + {field}]"
            ],
            [
                "add {at}, {slot}",
                "mov {old}, qword ptr [{at}]",
                "lea {sum}, [{old} + {value}]",
                "mov qword ptr [{at}], {sum}",
                ".pushsection __rseq_failure, \"ax\", @progbits",
                "8:",
                "xor {at:e}, {at:e}",
                "jmp 4f",
                ".popsection"
            ],
            at = out(reg) at,
            old = out(reg) old,
            sum = out(reg) _,
            value = in(reg) value,
            field = in(reg) u64::from(sequence.field),
        );
    }
    (at != 0).then_some(old)
}
