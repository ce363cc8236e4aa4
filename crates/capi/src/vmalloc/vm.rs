//! Memory over one reservation: `fh_vm`.

use crate::error::{Failure, fh_error};
use crate::handle::{code_of, hand_out};
use crate::memory::Aside;
use freehold::vmalloc::{Block, VirtualMemory, Zero};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Reserved addresses, and memory behind those in use. Any number of threads.
pub struct fh_vm {
    pub(super) vm: VirtualMemory,
    /// Pools that are open: they keep the memory alive.
    open: AtomicUsize,
}

impl fh_vm {
    /// One more pool, which keeps the memory from being destroyed until `closed`.
    pub(super) fn opened(&self) -> &'static Self {
        self.open.fetch_add(1, Ordering::Relaxed);
        // SAFETY: `open` keeps the memory from being destroyed.
        unsafe { &*ptr::from_ref(self) }
    }

    pub(super) fn closed(&self) {
        // Release: pairs with the Acquire of `fh_vm_destroy`.
        self.open.fetch_sub(1, Ordering::Release);
    }
}

/// The answer of a number that says whether memory shall be zero.
pub(super) fn zero(number: u32) -> Result<Zero, Failure> {
    match number {
        0 => Ok(Zero::No),
        1 => Ok(Zero::Yes),
        _ => Err(fh_error::FH_EENUM.into()),
    }
}

/// Reserves addresses. `reserve_bytes`: from 16 MiB to 2^46 bytes, rounded up to a multiple of 16 MiB; 0 for as many as the library
/// chooses, up to 64 GiB. The caller owns the handle, and ends it by fh_vm_destroy. A thread of the library gives back what stays free.
/// Any thread. Cost: some system calls.
///
/// @return FH_OK; FH_ENULL; FH_EINVAL; FH_ESYSTEM; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_vm_new(reserve_bytes: usize, vm: Option<&mut MaybeUninit<Box<fh_vm>>>) -> c_int {
    given!(vm);
    let make = || {
        // As many as are asked for up to what the thread is given, whose making cannot return an error: any may take one.
        let _aside = Aside::new(32, 4096)?;
        let builder = VirtualMemory::builder();
        let builder = if reserve_bytes > 0 { builder.reserve(reserve_bytes) } else { builder };
        Ok(fh_vm { vm: builder.build()?, open: AtomicUsize::new(0) })
    };
    hand_out(vm, make())
}

/// Ends memory that no thread uses any more: its blocks go with it. Memory with a pool is not ended. Cost: some system calls.
///
/// @return FH_OK; FH_ENULL; FH_EBUSY
#[unsafe(no_mangle)]
pub extern "C" fn fh_vm_destroy(vm: Option<&mut fh_vm>) -> c_int {
    given!(vm);
    // Acquire: pairs with the Release of `closed`.
    if vm.open.load(Ordering::Acquire) > 0 {
        return fh_error::FH_EBUSY as c_int;
    }
    // SAFETY: the handle came from `fh_vm_new` as a box; the caller gives it up.
    drop(unsafe { Box::from_raw(vm) });
    fh_error::FH_OK as c_int
}

/// Allocates a block of whole pages. `is_zero`: 1 for zeros, 0 for anything. `start`: gets its first byte. `len`: optional, gets its
/// bytes, `size_bytes` rounded up to pages. Any thread. Cost: an exchange, mostly, and clearing it if it was used and shall be zero.
///
/// @return FH_OK; FH_ENULL; FH_EENUM; FH_EINVAL; FH_ENOSPC; FH_ESYSTEM; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_vm_alloc(
    vm: Option<&fh_vm>,
    size_bytes: usize,
    is_zero: u32,
    start: Option<&mut MaybeUninit<*mut c_void>>,
    len: Option<&mut MaybeUninit<usize>>,
) -> c_int {
    given!(vm, start);
    let zero = attempt!(zero(is_zero));
    let block = attempt!(vm.vm.alloc(size_bytes, zero).map_err(Failure::from)).into_raw();
    start.write(block.as_ptr().cast());
    len.map(|len| len.write(block.len()));
    fh_error::FH_OK as c_int
}

/// Frees the block that starts at `start`. `size_bytes`: what was asked for. Any thread. Cost: an exchange, mostly.
///
/// @return FH_OK; FH_ENULL; FH_ENOENT: no block is held there; FH_EINTERIOR: inside one; FH_EINVAL: it is not so long
#[unsafe(no_mangle)]
pub extern "C" fn fh_vm_free(vm: Option<&fh_vm>, start: *mut c_void, size_bytes: usize) -> c_int {
    given!(vm);
    let Some(start) = NonNull::new(start.cast::<u8>()) else { return fh_error::FH_ENULL as c_int };
    let Some(span) = vm.vm.locate(start.addr().get() as u64) else { return fh_error::FH_ENOENT as c_int };
    if span.first() != start.addr().get() as u64 {
        return fh_error::FH_EINTERIOR as c_int;
    }
    // Slots are counted, whatever of one was asked for: a smaller size frees the same.
    let slot_bytes = span.size_saturating() as usize;
    if !(1..=slot_bytes).contains(&size_bytes) {
        return fh_error::FH_EINVAL as c_int;
    }
    // SAFETY: a block is held there, whose whole slot is its memory; the caller gives it up.
    drop(unsafe { Block::from_raw(&vm.vm, NonNull::slice_from_raw_parts(start, slot_bytes)) });
    fh_error::FH_OK as c_int
}

/// Finds the held block that an address lies in: its first byte, and the bytes of its slot. Any thread, no lock. Cost: constant.
///
/// @return FH_OK; FH_ENULL; FH_ENOENT
#[unsafe(no_mangle)]
pub extern "C" fn fh_vm_find(
    vm: Option<&fh_vm>,
    address: *const c_void,
    start: Option<&mut MaybeUninit<*const c_void>>,
    len: Option<&mut MaybeUninit<usize>>,
) -> c_int {
    given!(vm, start, len);
    let at = address.addr() as u64;
    let Some(span) = vm.vm.locate(at) else { return fh_error::FH_ENOENT as c_int };
    start.write(address.map_addr(|_| span.first() as usize));
    len.write(span.size_saturating() as usize);
    fh_error::FH_OK as c_int
}

/// Gives the pages of all free memory back to the system. `released_bytes`: optional, gets their bytes. Any thread. Cost: a system
/// call for each run of free pages.
///
/// @return FH_OK; FH_ENULL; FH_ESYSTEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_vm_release_idle(
    vm: Option<&fh_vm>,
    released_bytes: Option<&mut MaybeUninit<u64>>,
) -> c_int {
    given!(vm);
    let bytes = attempt!(vm.vm.release_idle().map_err(Failure::from));
    released_bytes.map(|released| released.write(bytes));
    fh_error::FH_OK as c_int
}

/// The bytes that have memory. `resident_bytes`: gets them. Any thread. Cost: O(reserved pages that were used), by system calls.
///
/// @return FH_OK; FH_ENULL; FH_ESYSTEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_vm_resident_bytes(
    vm: Option<&fh_vm>,
    resident_bytes: Option<&mut MaybeUninit<u64>>,
) -> c_int {
    given!(vm, resident_bytes);
    resident_bytes.write(attempt!(vm.vm.resident_bytes().map_err(Failure::from)));
    fh_error::FH_OK as c_int
}

/// Checks every invariant of memory that no thread changes meanwhile. Cost: O(n) for n slots.
///
/// @return FH_OK; FH_ENULL; FH_EBROKEN
#[unsafe(no_mangle)]
pub extern "C" fn fh_vm_validate(vm: Option<&fh_vm>) -> c_int {
    given!(vm);
    code_of(vm.vm.validate().map_err(Failure::from), None)
}
