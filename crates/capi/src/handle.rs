//! What every function does with its arguments, and how handles come to be.

use crate::error::{Failure, fh_conflict, fh_error};
use freehold::units::OutOfMemory;
use std::alloc::Layout;
use std::ffi::c_int;
use std::mem::MaybeUninit;

/// Takes pointers that must not be NULL out of their `Option`s; returns `FH_ENULL` if one is.
macro_rules! given {
    ($($name:ident),+) => {
        $(let Some($name) = $name else { return $crate::error::fh_error::FH_ENULL as std::ffi::c_int };)+
    };
}

/// Returns the code of a failure.
macro_rules! attempt {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(failure) => return $crate::error::Failure::from(failure).code as std::ffi::c_int,
        }
    };
}

/// A value on the heap, or an error if there is no memory.
pub(crate) fn boxed<T>(value: T) -> Result<Box<T>, OutOfMemory> {
    const { assert!(size_of::<T>() > 0, "a handle has an address of its own") };
    // SAFETY: the size is not 0.
    let place: *mut T = unsafe { std::alloc::alloc(Layout::new::<T>()) }.cast();
    if place.is_null() {
        return Err(OutOfMemory);
    }
    // SAFETY: the block has the layout of a `T` and is from the allocator that a box frees with.
    unsafe {
        place.write(value);
        Ok(Box::from_raw(place))
    }
}

/// Puts a new handle where the caller wants it.
pub(crate) fn hand_out<T>(out: &mut MaybeUninit<Box<T>>, made: Result<T, Failure>) -> c_int {
    match made.and_then(|value| boxed(value).map_err(Failure::from)) {
        Ok(handle) => {
            out.write(handle);
            fh_error::FH_OK as c_int
        }
        Err(failure) => failure.code as c_int,
    }
}

/// The code of a result. Fills the conflict, if the caller wants it, with what is in the way.
pub(crate) fn code_of(result: Result<(), Failure>, conflict: Option<&mut fh_conflict>) -> c_int {
    match result {
        Ok(()) => fh_error::FH_OK as c_int,
        Err(failure) => {
            if let Some(conflict) = conflict {
                failure.fill(conflict);
            }
            failure.code as c_int
        }
    }
}
