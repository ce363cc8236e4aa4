//! Snapshots of spaces as bytes: the values in them, and their memory.

use crate::error::{Failure, fh_error};
use crate::plain::Value;
use freehold::units::OutOfMemory;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;

/// Says by which number a value is saved.
pub type fh_save_fn = Option<extern "C" fn(ctx: *mut c_void, value: *mut c_void) -> u64>;

/// Puts the value of a saved number where `value` points to. Anything but 0 refuses it.
pub type fh_load_fn = Option<extern "C" fn(ctx: *mut c_void, number: u64, value: *mut *mut c_void) -> c_int>;

/// The number of a value: the callback's, or the value's own bits if there is no callback.
pub(super) fn number_of(value: Value, save: fh_save_fn, ctx: *mut c_void) -> [u8; 8] {
    save.map_or(value.0.addr() as u64, |save| save(ctx, value.0)).to_le_bytes()
}

/// The value of a number.
pub(super) fn value_of(bytes: &[u8], load: fh_load_fn, ctx: *mut c_void) -> Result<Value, fh_error> {
    let number = u64::from_le_bytes(bytes.try_into().map_err(|_| fh_error::FH_EFORMAT)?);
    let Some(load) = load else { return Ok(Value(ptr::without_provenance_mut(number as usize))) };
    let mut value = ptr::null_mut();
    if load(ctx, number, &raw mut value) == 0 { Ok(Value(value)) } else { Err(fh_error::FH_EFORMAT) }
}

/// Hands the bytes to the caller, who frees them by `free`: they are malloc's.
pub(super) fn hand_out(
    made: Result<Vec<u8>, OutOfMemory>,
    bytes: &mut MaybeUninit<*mut u8>,
    len: &mut MaybeUninit<usize>,
) -> Result<(), Failure> {
    let made = made?;
    len.write(made.len());
    bytes.write(made.leak().as_mut_ptr());
    Ok(())
}

/// The bytes that a caller points to.
///
/// # Safety
/// They are there, and are not written as long as the slice is used.
pub(super) unsafe fn slice<'a>(bytes: *const u8, len: usize) -> Result<&'a [u8], Failure> {
    if bytes.is_null() {
        return Err(fh_error::FH_ENULL.into());
    }
    if isize::try_from(len).is_err() {
        return Err(fh_error::FH_EINVAL.into());
    }
    // SAFETY: the caller's promise; the length fits.
    Ok(unsafe { std::slice::from_raw_parts(bytes, len) })
}
