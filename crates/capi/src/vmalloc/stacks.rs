//! A pool of guarded stacks: `fh_stacks`.

use super::vm::fh_vm;
use crate::error::{Failure, check_size, fh_error};
use crate::handle::boxed;
use crate::memory::Aside;
use freehold::vmalloc::{Stack, StackLayout, StackPool};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Stacks of one size, with a guard below each. Any number of threads.
pub struct fh_stacks {
    pool: StackPool<'static>,
    vm: &'static fh_vm,
    /// Stacks that are held: they keep the pool alive.
    held: AtomicUsize,
}

/// What stacks shall be like. FH_STACKS_LAYOUT_INIT(bytes, count) fills it: a guard of one page.
#[repr(C)]
pub struct fh_stacks_layout {
    /// sizeof(fh_stacks_layout).
    pub size: usize,
    /// Usable bytes of a stack, rounded up to pages.
    pub stack_bytes: usize,
    /// How many stacks can be held at one time, rounded up.
    pub count: u64,
    /// Bytes below each stack that fault.
    pub guard_bytes: usize,
}

/// A stack. It grows down from `base` to `limit`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct fh_stack {
    /// Its lowest usable byte: `ss_sp` of a `stack_t`.
    pub limit: *mut c_void,
    /// The byte behind its highest one.
    pub base: *mut c_void,
}

/// Makes a pool. The caller owns the handle, and ends it by fh_stacks_destroy before the memory. Any thread. Cost: addresses alone.
///
/// @return FH_OK; FH_ENULL; FH_ESIZE; FH_EINVAL: also a pool larger than the reservation; FH_ENOSPC: larger than what is free of it;
/// FH_ESYSTEM; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_stacks_new(
    vm: Option<&fh_vm>,
    layout: Option<&fh_stacks_layout>,
    stacks: Option<&mut MaybeUninit<Box<fh_stacks>>>,
) -> c_int {
    given!(vm, layout, stacks);
    attempt!(check_size::<fh_stacks_layout>(layout.size));
    // For names and descriptions, whose making cannot return an error.
    let _aside = attempt!(Aside::new(16, 4096));
    let wanted = StackLayout::new(layout.stack_bytes).count(layout.count).guard(layout.guard_bytes);
    let place = attempt!(boxed(MaybeUninit::uninit()));
    let vm = vm.opened();
    match StackPool::with_layout(&vm.vm, &wanted) {
        Ok(pool) => {
            stacks.write(Box::write(place, fh_stacks { pool, vm, held: AtomicUsize::new(0) }));
            fh_error::FH_OK as c_int
        }
        Err(error) => {
            vm.closed();
            Failure::from(error).code as c_int
        }
    }
}

/// Ends a pool. A pool of which a stack is held is not ended. Cost: O(n) for n stacks that were used.
///
/// @return FH_OK; FH_ENULL; FH_EBUSY
#[unsafe(no_mangle)]
pub extern "C" fn fh_stacks_destroy(stacks: Option<&mut fh_stacks>) -> c_int {
    given!(stacks);
    // Acquire: pairs with the Release of `fh_stacks_put`.
    if stacks.held.load(Ordering::Acquire) > 0 {
        return fh_error::FH_EBUSY as c_int;
    }
    // SAFETY: the handle came from `fh_stacks_new` as a box; the caller gives it up.
    let fh_stacks { pool, vm, .. } = *unsafe { Box::from_raw(stacks) };
    drop(pool);
    vm.closed();
    fh_error::FH_OK as c_int
}

/// Hands out a stack. Any thread. Cost: an exchange, mostly.
///
/// @return FH_OK; FH_ENULL; FH_ENOSPC: all are held; FH_ESYSTEM; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_stacks_get(
    stacks: Option<&fh_stacks>,
    stack: Option<&mut MaybeUninit<fh_stack>>,
) -> c_int {
    given!(stacks, stack);
    let held = attempt!(stacks.pool.get().map_err(Failure::from));
    stacks.held.fetch_add(1, Ordering::Relaxed);
    let limit = held.limit().as_ptr().cast();
    stack.write(fh_stack { limit, base: held.into_raw().as_ptr().cast() });
    fh_error::FH_OK as c_int
}

/// Takes a stack back, on which no code runs. `base`: its base. A stack that was put back already is refused where it can be told, and
/// is a fault of the caller's otherwise. Any thread. Cost: an exchange, mostly.
///
/// @return FH_OK; FH_ENULL; FH_ENOENT: no held stack of the pool has this base
#[unsafe(no_mangle)]
pub extern "C" fn fh_stacks_put(stacks: Option<&fh_stacks>, base: *mut c_void) -> c_int {
    given!(stacks);
    let Some(base) = NonNull::new(base.cast::<u8>()) else { return fh_error::FH_ENULL as c_int };
    let address = base.addr().get() as u64;
    let found = stacks.pool.locate(address - 1);
    // Behind a base, the number is another's or nobody's.
    if found.is_none() || stacks.pool.locate(address) == found {
        return fh_error::FH_ENOENT as c_int;
    }
    // SAFETY: the pool is a box that `held` keeps alive until the stack is dropped.
    let pool: &'static StackPool<'static> = unsafe { &*ptr::from_ref(&stacks.pool) };
    // SAFETY: a stack is held there, which the caller gives up.
    drop(unsafe { Stack::from_raw(pool, base) });
    // Release: pairs with the Acquire of `fh_stacks_destroy`.
    stacks.held.fetch_sub(1, Ordering::Release);
    fh_error::FH_OK as c_int
}

/// Finds the number of the held stack that an address lies in, its guard included: that of a fault. Any thread, no lock. Cost:
/// constant.
///
/// @return FH_OK; FH_ENULL; FH_ENOENT
#[unsafe(no_mangle)]
pub extern "C" fn fh_stacks_find(
    stacks: Option<&fh_stacks>,
    address: *const c_void,
    number: Option<&mut MaybeUninit<u64>>,
) -> c_int {
    given!(stacks, number);
    let Some(found) = stacks.pool.locate(address.addr() as u64) else { return fh_error::FH_ENOENT as c_int };
    number.write(found);
    fh_error::FH_OK as c_int
}
