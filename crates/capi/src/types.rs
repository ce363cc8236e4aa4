//! The plain types of the interface.

use crate::error::{Failure, check_size, fh_error};
use crate::plain::{Value, fh_span};
use freehold::kva::{self, Placement};
use freehold::maple;
use freehold::units::{Align, Span};
use std::ffi::{c_int, c_void};

/// What is asked for. FH_REQUEST_INIT(bytes) fills it: any alignment, no guard, any address.
#[repr(C)]
pub struct fh_request {
    /// sizeof(fh_request).
    pub size: usize,
    /// Usable bytes; indexes in a map.
    pub size_bytes: u64,
    /// The start is a multiple of this power of two.
    pub align_bytes: u64,
    /// Bytes behind the region that stay unused as long as it lives. 0 in a map.
    pub guard_bytes: u64,
    /// Region and guard lie in here.
    pub window: fh_span,
}

/// A region of an address space.
#[repr(C)]
pub struct fh_region {
    /// Its addresses, without its guard.
    pub span: fh_span,
    /// The caller's value.
    pub value: *mut c_void,
}

/// An entry of a map.
#[repr(C)]
pub struct fh_entry {
    /// Its indexes.
    pub span: fh_span,
    /// The caller's value, never NULL.
    pub value: *mut c_void,
}

/// Where an address space places regions. Functions take it as a number, and refuse any other with FH_EENUM.
#[repr(C)]
pub enum fh_placement {
    /// The lowest address that fits.
    FH_LOWEST = 0,
    /// The highest address that fits.
    FH_HIGHEST = 1,
    /// The smallest free block that fits.
    FH_BEST_FIT = 2,
}

/// Gets a region. Anything but 0 ends the walk, and is returned by it.
pub type fh_region_fn = Option<extern "C" fn(ctx: *mut c_void, region: *const fh_region) -> c_int>;

/// Gets an entry, or the part of one. Anything but 0 ends a walk, and is returned by it; where entries are given back, it is
/// ignored.
pub type fh_entry_fn = Option<extern "C" fn(ctx: *mut c_void, entry: *const fh_entry) -> c_int>;

/// Gets a range. Anything but 0 ends the walk, and is returned by it.
pub type fh_span_fn = Option<extern "C" fn(ctx: *mut c_void, span: fh_span) -> c_int>;

impl Value {
    /// A value for a map, in which NULL means that there is none.
    pub(crate) fn entry(value: *mut c_void) -> Result<Self, Failure> {
        if value.is_null() { Err(fh_error::FH_ENULL.into()) } else { Ok(Self(value)) }
    }
}

impl fh_span {
    pub(crate) fn checked(self) -> Result<Span, Failure> {
        Span::new(self.first, self.last).ok_or_else(|| fh_error::FH_EINVAL.into())
    }
}

impl fh_region {
    pub(crate) fn new(span: Span, value: Value) -> Self {
        Self { span: span.into(), value: value.0 }
    }
}

impl fh_entry {
    pub(crate) fn new((span, value): (Span, Value)) -> Self {
        Self { span: span.into(), value: value.0 }
    }
}

impl fh_request {
    /// The request to an address space, which checks all but the window itself.
    pub(crate) fn of_space(&self) -> Result<kva::Request, Failure> {
        self.check_size()?;
        let request =
            kva::Request::new(self.size_bytes).align_bytes(self.align_bytes).guard(self.guard_bytes);
        Ok(request.window(self.window.checked()?))
    }

    /// The request to a map, which knows no guards.
    pub(crate) fn of_map(&self) -> Result<maple::Request, Failure> {
        self.check_size()?;
        let align = Align::new(self.align_bytes).ok_or(fh_error::FH_EINVAL)?;
        if self.guard_bytes != 0 {
            return Err(fh_error::FH_EINVAL.into());
        }
        Ok(maple::Request::new(self.size_bytes).align(align).window(self.window.checked()?))
    }

    fn check_size(&self) -> Result<(), Failure> {
        check_size::<Self>(self.size)
    }
}

/// The granule or alignment of a number.
pub(crate) fn align(bytes: u64) -> Result<Align, Failure> {
    Align::new(bytes).ok_or_else(|| fh_error::FH_EINVAL.into())
}

/// The placement of a number.
pub(crate) fn placement(number: u32) -> Result<Placement, Failure> {
    const LOWEST: u32 = fh_placement::FH_LOWEST as u32;
    const HIGHEST: u32 = fh_placement::FH_HIGHEST as u32;
    const BEST_FIT: u32 = fh_placement::FH_BEST_FIT as u32;
    match number {
        LOWEST => Ok(Placement::Lowest),
        HIGHEST => Ok(Placement::Highest),
        BEST_FIT => Ok(Placement::BestFit),
        _ => Err(fh_error::FH_EENUM.into()),
    }
}

/// Calls a callback for each item until it returns something else than 0, which is returned.
pub(crate) fn walk<T>(
    items: impl Iterator<Item = T>,
    callback: extern "C" fn(*mut c_void, *const T) -> c_int,
    ctx: *mut c_void,
) -> c_int {
    for item in items {
        let answer = callback(ctx, &raw const item);
        if answer != 0 {
            return answer;
        }
    }
    fh_error::FH_OK as c_int
}

/// Gives all items to an optional callback, whatever it returns.
pub(crate) fn give_all<T>(
    items: impl Iterator<Item = T>,
    callback: Option<extern "C" fn(*mut c_void, *const T) -> c_int>,
    ctx: *mut c_void,
) {
    if let Some(callback) = callback {
        for item in items {
            callback(ctx, &raw const item);
        }
    }
}
