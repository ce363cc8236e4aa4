//! The sequence on aarch64, where the thread pointer is `tpidr_el0`.

use super::{CPU_ID, Sequence};
use std::arch::asm;

/// The C library's offset of the area from the thread pointer, and its size; `None` if it has no such symbols.
pub(super) fn symbols() -> Option<(isize, u32)> {
    let (offset, size): (*const isize, *const u32);
    // SAFETY: the instructions load addresses from the table that the linker fills; a missing weak symbol has a null
    // address.
    unsafe {
        asm!(
            // Weak: a C library without them, or before 2.35, leaves their addresses null. Declared here, in the object
            // that refers to them.
            ".weak __rseq_offset",
            ".weak __rseq_size",
            "adrp {offset}, :got:__rseq_offset",
            "ldr {offset}, [{offset}, :got_lo12:__rseq_offset]",
            "adrp {size}, :got:__rseq_size",
            "ldr {size}, [{size}, :got_lo12:__rseq_size]",
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

/// The thread pointer.
#[inline]
pub(super) fn thread_pointer() -> *mut u8 {
    let pointer: *mut u8;
    // SAFETY: reads a register.
    unsafe {
        asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    pointer
}

/// This thread's area.
#[inline]
fn area(offset: isize) -> *mut u8 {
    thread_pointer().wrapping_offset(offset)
}

/// Reads a field of this thread's area.
///
/// # Safety
/// There is an area at `area`, with a 32-bit field at `field`.
#[inline]
pub(super) unsafe fn read(offset: isize, field: u32) -> u32 {
    // SAFETY: the field exists, as the caller guarantees. Volatile, since the kernel writes it.
    unsafe { area(offset).add(field as usize).cast::<u32>().read_volatile() }
}

/// # Safety
/// As [`Sequence::add`]; and there is an area.
#[inline]
pub(super) unsafe fn add_by_cpu_id(sequence: &Sequence, slot: *mut u64, value: u64) -> bool {
    // SAFETY: the area is this thread's; the rest is guaranteed by the caller.
    unsafe { add_in(area(sequence.area_by_cpu_id), sequence, slot, value) }.is_some()
}

/// # Safety
/// As [`Sequence::add`]; and there is an area, which has an `mm_cid`.
#[inline]
pub(super) unsafe fn add_by_mm_cid(sequence: &Sequence, slot: *mut u64, value: u64) -> bool {
    // SAFETY: the area is this thread's; the rest is guaranteed by the caller.
    unsafe { add_in(area(sequence.area), sequence, slot, value) }.is_some()
}

/// # Safety
/// As [`Sequence::add`]; and there is an area.
#[inline]
pub(super) unsafe fn fetch_add(sequence: &Sequence, slot: *mut u64, value: u64) -> Option<u64> {
    // SAFETY: the area is this thread's; the rest is guaranteed by the caller.
    unsafe { add_in(area(sequence.area), sequence, slot, value) }
}

/// The sequence on a given area.
///
/// # Safety
/// As [`Sequence::add`]; and `area` is this thread's, or a fake one that the kernel does not use.
#[inline]
unsafe fn add_in(area: *mut u8, sequence: &Sequence, slot: *mut u64, value: u64) -> Option<u64> {
    let (index, old): (u64, u64);
    // SAFETY:
    // - This code may write `rseq_cs` (8) of this thread's area; the descriptor lives as long as the code.
    // - The index is compared with the limit within the sequence, so the slot is one of those that the caller
    //   guarantees.
    // - A thread without a registered area leaves before the store: its `cpu_id` is negative. Its index is set to all
    //   ones.
    // - Inputs are not changed before the commit, so the sequence may restart from any point.
    // - Nothing is pushed or called; the signature is before the abort handler, as the kernel requires.
    unsafe {
        asm!(
            "2:",
            "adrp {old}, 7f",
            "add {old}, {old}, :lo12:7f",
            "str {old}, [{area}, #8]",
            "3:",
            "mov {index:w}, #-1",
            "ldr {at:w}, [{area}, #{cpu_id}]",
            "tbnz {at:w}, #31, 4f",
            "ldr {index:w}, [{area}, {field}]",
            "cmp {index:w}, {limit:w}",
            "b.hs 4f",
            "madd {at}, {index}, {stride}, {slot}",
            "ldr {old}, [{at}]",
            "add {new}, {old}, {value}",
            "str {new}, [{at}]",
            "4:",
            ".pushsection __rseq_cs, \"aw\", %progbits",
            ".balign 32",
            "7:",
            ".long 0, 0",
            ".quad 3b, 4b - 3b, 5f",
            ".popsection",
            ".pushsection __rseq_failure, \"ax\", %progbits",
            // The signature is a breakpoint instruction.
            ".inst 0xd428bc00",
            "5:",
            "b 2b",
            ".popsection",
            index = out(reg) index,
            old = out(reg) old,
            at = out(reg) _,
            new = out(reg) _,
            area = in(reg) area,
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
