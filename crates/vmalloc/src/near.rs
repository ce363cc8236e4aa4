//! Addresses near others: short jumps and calls of machine code reach 2 GiB.
//!
//! ```text
//!   /proc/self/maps ----> AddressSpace with what is taken ----> the place nearest below or above ----> reserved there,
//!                                                               within reach of the anchor             if nobody was quicker
//! ```

use crate::error::becomes;
use freehold_kva::{self as kva, AddressSpace, Placement, Request};
use freehold_sys::{Reservation, SysError, mappings, page_bytes};
use freehold_units::{Align, Bytes, Rejected, Span, error_messages};

/// The kernel keeps at least that much free below stacks, which grow down.
const STACK_ROOM_BYTES: u64 = 128 << 20;
/// Only the system may map below this address.
const LOWEST: u64 = 1 << 20;
/// The highest address that a process gets without asking for more. On x86-64, half of the addresses are the kernel's,
/// and the last page of the other half is nobody's.
const HIGHEST: u64 = if cfg!(target_arch = "x86_64") { (1 << 47) - 4096 - 1 } else { (1 << 48) - 1 };
/// Attempts, in case other threads take the place that was found.
const ATTEMPTS: u32 = 16;

/// The reason why there is no reservation near an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NearError {
    /// 0 bytes, or more than the reach.
    Length {
        /// The requested bytes.
        len_bytes: u64,
    },
    /// All places within reach are taken or too small.
    NoPlace {
        /// The requested bytes.
        len_bytes: u64,
        /// The maximum distance from the anchor.
        reach_bytes: u64,
    },
    /// The system refused.
    System(SysError),
    /// No memory to write down what is taken.
    OutOfMemory,
}

error_messages! { NearError + OutOfMemory {
    Self::Length { len_bytes } => "{} cannot lie within reach", Bytes::from(*len_bytes);
    Self::NoPlace { len_bytes, reach_bytes } =>
        "no {} are free within {} of the anchor", Bytes::from(*len_bytes), Bytes::from(*reach_bytes);
    Self::System(error) => "{error}";
} }

becomes! { NearError: SysError => System }

/// Reserves `len_bytes`, rounded up to whole pages, with every byte less than `reach_bytes` from `anchor`: for a
/// compiler whose code calls into the program's. Takes the highest free place below the anchor, or else the lowest
/// above.
///
/// # Errors
/// [`NearError::NoPlace`] if there is no such place; [`NearError::System`] if `/proc/self/maps` cannot be read, or
/// under a limit of addresses.
///
/// # Cost
/// Linear in the mappings of the process, whose list is read.
///
/// Access to code in the reservation: [`Reservation::commit`] makes pages readable and writable, even executable ones.
/// [`Reservation::make_executable`] and [`Reservation::make_read_only`] remove write access. [`Reservation::uncommit`]
/// removes all access and the memory, so that the pages are one mapping with reserved neighbours again.
///
/// ```
/// # #[cfg(all(target_os = "linux", not(miri)))] {
/// use freehold_vmalloc::near;
///
/// let anchor = near::reserve as *const ();
/// let code = near::reserve(anchor, 2 << 30, 64 << 10)?;
/// code.commit(0..code.len_bytes())?;
/// assert!(code.base().addr().get().abs_diff(anchor.addr()) < 2 << 30);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "MAP_FIXED_NOREPLACE")]
pub fn reserve(anchor: *const (), reach_bytes: u64, len_bytes: usize) -> Result<Reservation, NearError> {
    let refused = NearError::Length { len_bytes: len_bytes as u64 };
    let len = crate::mapping::whole_pages(len_bytes).filter(|&len| len > 0).ok_or(refused)?;
    if len as u64 > reach_bytes {
        return Err(refused);
    }
    let anchor = anchor.addr() as u64;
    let none = NearError::NoPlace { len_bytes: len as u64, reach_bytes };
    for _ in 0..ATTEMPTS {
        let place = find(anchor, reach_bytes, len as u64)?.ok_or(none)?;
        match Reservation::at(place as usize, len) {
            // Another thread took the place first.
            Err(SysError { errno: 17, .. }) => {}
            reserved => return Ok(reserved?),
        }
    }
    Err(none)
}

/// A place for `len` bytes among the present mappings.
fn find(anchor: u64, reach_bytes: u64, len: u64) -> Result<Option<u64>, NearError> {
    let page = Align::new(page_bytes() as u64).expect("V1: pages are powers of two");
    let span = Span::new(LOWEST, HIGHEST).expect("V1: the ends are constants");
    let mut space = AddressSpace::new(span, page, Placement::Highest).map_err(|_| NearError::OutOfMemory)?;
    let (mut lacking, mut before) = (false, 0);
    mappings::each(|range, name| {
        let room = if name == "[stack]" { STACK_ROOM_BYTES } else { 0 };
        // Starts at the mapping before, as each taken range must be added once.
        let taken = Span::new(range.start.saturating_sub(room).max(before), range.end - 1);
        before = range.end;
        if let Some(taken) = taken.and_then(|taken| taken.intersection(span)) {
            let out_of_memory = |error: &Rejected<_, _>| error.cause == kva::AllocError::OutOfMemory;
            lacking |= space.alloc_at(taken, ()).is_err_and(|error| out_of_memory(&error));
        }
    })?;
    if lacking {
        return Err(NearError::OutOfMemory);
    }
    let below = Span::new(anchor.saturating_sub(reach_bytes - 1), anchor);
    let above = Span::new(anchor, anchor.saturating_add(reach_bytes - 1));
    let sides = [(below, Placement::Highest), (above, Placement::Lowest)];
    for (window, placement) in sides {
        let request = window.map(|window| Request::new(len).window(window));
        if let Some(found) = request.and_then(|request| space.alloc_with(&request, placement, ()).ok()) {
            return Ok(Some(found.first()));
        }
    }
    Ok(None)
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_within_reach() {
        let anchor = every_byte_is_within_reach as *const ();
        let mut all: Vec<Reservation> = Vec::new();
        for reach in [2 << 30, 256 << 20] {
            for len in [1, 4096, 1 << 20, 16 << 20] {
                let place = reserve(anchor, reach, len).unwrap();
                let (first, last) =
                    (place.base().addr().get(), place.base().addr().get() + place.len_bytes() - 1);
                assert!(
                    (first.abs_diff(anchor.addr()) as u64) < reach
                        && (last.abs_diff(anchor.addr()) as u64) < reach
                );
                assert!(all.iter().all(|other| {
                    let start = other.base().addr().get();
                    last < start || first >= start + other.len_bytes()
                }));
                all.push(place);
            }
        }
    }

    // Not under an emulator, whose stack has a page of guard right below it.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn stacks_alone_keep_room_below_them() {
        let starts = |of: Option<&str>| {
            let mut starts = Vec::new();
            mappings::each(|range, name| {
                starts.extend(of.is_none_or(|of| of == name).then_some(range.start));
            })
            .unwrap();
            starts
        };
        let stack = starts(Some("[stack]"))[0];
        let below = find(stack, 1 << 40, 4096).unwrap().unwrap();
        assert!(below + 4096 <= stack - STACK_ROOM_BYTES, "{below:#x}, the stack begins at {stack:#x}");
        // The place ends where a mapping begins, unless another test made or removed that one meanwhile.
        let code = stacks_alone_keep_room_below_them as *const () as u64;
        let touches = || starts(None).contains(&(find(code, 1 << 40, 4096).unwrap().unwrap() + 4096));
        assert!((0..100).any(|_| touches()));
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn places_below_the_highest_addresses_are_found() {
        for anchor in [HIGHEST, HIGHEST + 1, (1 << 47) - 1, 1 << 47] {
            let anchor = std::ptr::without_provenance(anchor as usize);
            let place = reserve(anchor, 1 << 40, 4096).unwrap();
            assert!(place.base().addr().get() < anchor.addr());
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let anchor = what_cannot_be_is_refused as *const ();
        assert!(matches!(reserve(anchor, 1 << 20, 0), Err(NearError::Length { .. })));
        assert!(matches!(reserve(anchor, 1 << 20, 2 << 20), Err(NearError::Length { .. })));
        assert!(matches!(reserve(anchor, 1 << 20, usize::MAX), Err(NearError::Length { .. })));
        // The program itself occupies that place.
        assert!(matches!(reserve(anchor, 8192, 8192), Err(NearError::NoPlace { .. })));
        let nowhere = std::ptr::without_provenance(usize::MAX);
        assert!(matches!(reserve(nowhere, 1 << 20, 4096), Err(NearError::NoPlace { .. })));
    }
}
