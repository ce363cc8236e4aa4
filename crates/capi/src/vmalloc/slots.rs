//! A pool of slots of one size: `fh_slots`.

use super::vm::{fh_vm, zero};
use crate::error::{Failure, check_size, fh_error};
use crate::handle::boxed;
use crate::memory::Aside;
use freehold::vmalloc::{Slot, SlotLayout, Slots};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Slots of one size with guards behind them. Any number of threads.
pub struct fh_slots {
    slots: Slots<'static>,
    vm: &'static fh_vm,
    /// Slots that are held: they keep the pool alive.
    held: AtomicUsize,
}

/// What slots shall be like. FH_SLOTS_LAYOUT_INIT(bytes, count) fills it: no guard, not zeroed.
#[repr(C)]
pub struct fh_slots_layout {
    /// sizeof(fh_slots_layout).
    pub size: usize,
    /// Bytes of a slot, rounded up to pages.
    pub slot_bytes: usize,
    /// How many slots can be held at one time, rounded up.
    pub count: u64,
    /// Bytes behind each slot that fault; 0 for none.
    pub guard_bytes: usize,
    /// 1: slots are zero when they are handed out. 0: anything.
    pub is_zero: u32,
}

/// Makes a pool. The caller owns the handle, and ends it by fh_slots_destroy before the memory. Any thread. Cost: addresses alone.
///
/// @return FH_OK; FH_ENULL; FH_ESIZE; FH_EENUM; FH_EINVAL: also a pool larger than the reservation; FH_ENOSPC: larger than what is
/// free of it; FH_ESYSTEM; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_slots_new(
    vm: Option<&fh_vm>,
    layout: Option<&fh_slots_layout>,
    slots: Option<&mut MaybeUninit<Box<fh_slots>>>,
) -> c_int {
    given!(vm, layout, slots);
    attempt!(check_size::<fh_slots_layout>(layout.size));
    // For names and descriptions, whose making cannot return an error.
    let _aside = attempt!(Aside::new(16, 4096));
    let wanted = SlotLayout::new(layout.slot_bytes).count(layout.count).guard(layout.guard_bytes);
    let wanted = wanted.zero(attempt!(zero(layout.is_zero)));
    let place = attempt!(boxed(MaybeUninit::uninit()));
    let vm = vm.opened();
    match vm.vm.slots(&wanted) {
        Ok(pool) => {
            slots.write(Box::write(place, fh_slots { slots: pool, vm, held: AtomicUsize::new(0) }));
            fh_error::FH_OK as c_int
        }
        Err(error) => {
            vm.closed();
            Failure::from(error).code as c_int
        }
    }
}

/// Ends a pool. A pool of which a slot is held is not ended. Cost: O(n) for n slots that were used.
///
/// @return FH_OK; FH_ENULL; FH_EBUSY
#[unsafe(no_mangle)]
pub extern "C" fn fh_slots_destroy(slots: Option<&mut fh_slots>) -> c_int {
    given!(slots);
    // Acquire: pairs with the Release of `fh_slots_put`.
    if slots.held.load(Ordering::Acquire) > 0 {
        return fh_error::FH_EBUSY as c_int;
    }
    // SAFETY: the handle came from `fh_slots_new` as a box; the caller gives it up.
    let fh_slots { slots, vm, .. } = *unsafe { Box::from_raw(slots) };
    drop(slots);
    vm.closed();
    fh_error::FH_OK as c_int
}

/// Hands out a slot. `start`: gets its first byte. Any thread. Cost: an exchange, mostly.
///
/// @return FH_OK; FH_ENULL; FH_ENOSPC: all are held; FH_ESYSTEM; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_slots_get(
    slots: Option<&fh_slots>,
    start: Option<&mut MaybeUninit<*mut c_void>>,
) -> c_int {
    given!(slots, start);
    let slot = attempt!(slots.slots.get().map_err(Failure::from));
    slots.held.fetch_add(1, Ordering::Relaxed);
    start.write(slot.into_raw().as_ptr().cast());
    fh_error::FH_OK as c_int
}

/// Takes a slot back, which the caller does not use any more. A slot that was put back already is refused where it can be told, and
/// is a fault of the caller's otherwise. Any thread. Cost: an exchange, mostly.
///
/// @return FH_OK; FH_ENULL; FH_ENOENT: no held slot of the pool starts there
#[unsafe(no_mangle)]
pub extern "C" fn fh_slots_put(slots: Option<&fh_slots>, start: *mut c_void) -> c_int {
    given!(slots);
    let Some(start) = NonNull::new(start.cast::<u8>()) else { return fh_error::FH_ENULL as c_int };
    let address = start.addr().get() as u64;
    let found = slots.slots.locate(address);
    // Of the byte before it, the number is another's or nobody's.
    if found.is_none() || slots.slots.locate(address - 1) == found {
        return fh_error::FH_ENOENT as c_int;
    }
    // SAFETY: the pool is a box that `held` keeps alive until the slot is dropped.
    let pool: &'static Slots<'static> = unsafe { &*ptr::from_ref(&slots.slots) };
    // SAFETY: a slot is held there, which the caller gives up.
    drop(unsafe { Slot::from_raw(pool, start) });
    // Release: pairs with the Acquire of `fh_slots_destroy`.
    slots.held.fetch_sub(1, Ordering::Release);
    fh_error::FH_OK as c_int
}

/// Finds the number of the held slot that an address lies in, its guard included. Any thread, no lock. Cost: constant.
///
/// @return FH_OK; FH_ENULL; FH_ENOENT
#[unsafe(no_mangle)]
pub extern "C" fn fh_slots_find(
    slots: Option<&fh_slots>,
    address: *const c_void,
    number: Option<&mut MaybeUninit<u64>>,
) -> c_int {
    given!(slots, number);
    let Some(found) = slots.slots.locate(address.addr() as u64) else { return fh_error::FH_ENOENT as c_int };
    number.write(found);
    fh_error::FH_OK as c_int
}
