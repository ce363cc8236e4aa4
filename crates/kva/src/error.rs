//! Errors of the spaces: one small enum for each kind of operation. A variant carries the obstacle.

mod moves;
mod parts;
#[cfg(feature = "std")]
mod shared;
mod sub_space;

use freehold_units::{Align, Bytes, Span, debug_hex, error_messages};

pub use moves::MoveError;
pub use parts::{FreeRangeError, MergeError, SplitError};
#[cfg(feature = "std")]
pub use shared::SharedError;
pub use sub_space::{AdoptError, ReturnError};

/// The error of creating a space or changing its layout. The space is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// A span does not start and end on multiples of the granule.
    NotGranular {
        /// The span.
        span: Span,
        /// The granule it must be made of.
        granule: Align,
    },
    /// A span shares addresses with the space's existing addresses.
    Overlap {
        /// The later of the two spans.
        span: Span,
        /// The free block that it overlaps, or the region with its guard.
        block: Span,
    },
    /// A layout without any span, or a removal of all addresses of a space.
    Empty,
    /// Addresses to be removed belong to a region, or to the guard or new place of one.
    Occupied {
        /// The region, without its guard.
        region: Span,
    },
    /// Addresses to be removed are not all in the space.
    Outside {
        /// The span.
        span: Span,
        /// From the lowest to the highest address of the space.
        space: Span,
    },
    /// The space is a sub-space, whose addresses cannot change.
    SubSpace {
        /// The addresses of the sub-space.
        space: Span,
    },
    /// More addresses than a pooled space can have.
    TooLarge {
        /// The span.
        span: Span,
        /// The most that a space with its granule may have, in bytes.
        most_bytes: u128,
    },
    /// Fewer addresses than a pooled space needs.
    TooSmall {
        /// The span.
        span: Span,
        /// The bytes of a cell of 16 granules, of which a pooled space needs one.
        least_bytes: u128,
    },
    /// No memory for the index.
    OutOfMemory,
}

error_messages! { LayoutError + OutOfMemory {
    Self::NotGranular { span, granule } => "{span} is not made of granules of {granule}";
    Self::Overlap { span, block } => "{span} overlaps {block}";
    Self::Empty => "a space needs at least one span";
    Self::Occupied { region } => "{region} is in the way";
    Self::Outside { span, space } => "{span} is not all in the space, {space}";
    Self::SubSpace { space } => "a sub-space stays {space}";
    Self::TooLarge { span, most_bytes } => "{span} has more than {}", Bytes(*most_bytes);
    Self::TooSmall { span, least_bytes } => "{span} has no cell of {}", Bytes(*least_bytes);
} }

/// The error of an allocation. The space is unchanged.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AllocError {
    /// A size of 0, or a congruent request without areas.
    ZeroSize,
    /// The size or the guard is not a multiple of the granule.
    NotGranular {
        /// The size or guard, in bytes.
        size_bytes: u64,
        /// The granule it must be a multiple of.
        granule: Align,
    },
    /// An alignment that is not a power of two.
    NotPowerOfTwo {
        /// The alignment, in bytes.
        align_bytes: u64,
    },
    /// Size and guard together pass 2^64 - 1 bytes, or the last address.
    SizeOverflow,
    /// A guard of 2^31 granules or more.
    GuardTooLarge {
        /// The requested guard, in bytes.
        guard_bytes: u64,
    },
    /// A window that ends before it starts.
    WindowEmpty {
        /// The window's lowest address.
        first: u64,
        /// The window's highest address, below the lowest.
        last: u64,
    },
    /// The window contains no address of the space.
    WindowOutside {
        /// The requested window.
        window: Span,
        /// The whole space.
        space: Span,
    },
    /// A fixed place has addresses that are not in the space: beyond its ends, or in a hole of its layout.
    PlaceOutside {
        /// The requested place.
        place: Span,
        /// The whole space, holes included.
        space: Span,
    },
    /// A fixed place does not start and end on multiples of the granule.
    PlaceNotGranular {
        /// The requested place.
        place: Span,
        /// The granule it must be made of.
        granule: Align,
    },
    /// An area of a congruent request does not start and end on multiples of the granule.
    AreaNotGranular {
        /// The area's position in the request.
        area: usize,
        /// The granule it must be made of.
        granule: Align,
    },
    /// A region or its guard is in the way of a fixed place, or of a window that leaves no choice.
    /// [`region_at`](crate::AddressSpace::region_at), called with any of its addresses, returns its value.
    Occupied {
        /// The region in the way, without its guard; the highest if there are several.
        region: Span,
    },
    /// Two areas of one request overlap each other.
    AreasOverlap {
        /// Position of the first area in the request.
        area: usize,
        /// Position of the other area.
        other: usize,
    },
    /// The size is larger than the part of the space within the window, free or not.
    TooLarge {
        /// Size including the guard, in bytes; for a congruent request, from the lowest area to the highest.
        size_bytes: u64,
        /// Bytes of the space within the window.
        room_bytes: u64,
        /// The part of the window between the ends of the space.
        window: Span,
    },
    /// No multiple of the alignment in the window and the space has enough addresses after it, free or not. The usual
    /// cause is an alignment larger than the space.
    NoMultiple {
        /// Size including the guard, in bytes; for a congruent request, the sum of all areas.
        size_bytes: u64,
        /// The effective alignment: the larger of the request's and the granule.
        align: Align,
        /// The part of the window between the ends of the space.
        window: Span,
    },
    /// No free block can hold the request. The space could if less were taken, or if its layout had no holes.
    NoSpace {
        /// Size including the guard, in bytes.
        size_bytes: u64,
        /// The effective alignment: the larger of the request's and the granule.
        align: Align,
        /// The part of the window between the ends of the space, in which the request had to lie.
        window: Span,
        /// The largest free block of the whole space, in bytes.
        largest_free_bytes: u64,
    },
    /// No memory for the index.
    OutOfMemory,
}

debug_hex! { AllocError {
    ZeroSize;
    NotGranular { size_bytes, granule };
    NotPowerOfTwo { align_bytes };
    SizeOverflow;
    GuardTooLarge { guard_bytes };
    WindowEmpty { first: hex, last: hex };
    WindowOutside { window, space };
    PlaceOutside { place, space };
    PlaceNotGranular { place, granule };
    AreaNotGranular { area, granule };
    Occupied { region };
    AreasOverlap { area, other };
    TooLarge { size_bytes, room_bytes, window };
    NoMultiple { size_bytes, align, window };
    NoSpace { size_bytes, align, window, largest_free_bytes };
    OutOfMemory;
} }

error_messages! { AllocError + OutOfMemory {
    Self::ZeroSize => "size is 0";
    Self::NotGranular { size_bytes, granule } => "{size_bytes} bytes is not a multiple of the granule, {granule}";
    Self::NotPowerOfTwo { align_bytes } => "an alignment of {align_bytes} bytes is no power of two";
    Self::SizeOverflow => "size with guard passes 2^64 - 1 bytes";
    Self::GuardTooLarge { guard_bytes } => "a guard of {} is 2^31 granules or more", Bytes::from(*guard_bytes);
    Self::WindowEmpty { first, last } => "a window from {first:#x} to {last:#x} is empty";
    Self::WindowOutside { window, space } => "window {window} lies outside {space}";
    Self::PlaceOutside { place, space } => "{place} is not all in the space, {space}";
    Self::PlaceNotGranular { place, granule } => "{place} is not made of granules of {granule}";
    Self::AreaNotGranular { area, granule } => "area {area} is not made of granules of {granule}";
    Self::Occupied { region } => "{region} is in the way";
    Self::AreasOverlap { area, other } => "areas {area} and {other} overlap";
    Self::TooLarge { size_bytes, room_bytes, window } =>
        "{} is more than the {} there are in {window}",
        Bytes::from(*size_bytes).beside(*room_bytes), Bytes::from(*room_bytes).beside(*size_bytes);
    Self::NoMultiple { size_bytes, align, window } =>
        "no multiple of {align} in {window} has {} behind it", Bytes::from(*size_bytes);
    Self::NoSpace { size_bytes, align, window, largest_free_bytes } =>
        "no room for {} aligned to {align} in {window}; the largest free block has {}",
        Bytes::from(*size_bytes).beside(*largest_free_bytes), Bytes::from(*largest_free_bytes).beside(*size_bytes);
} }

/// The error of a free. The space is unchanged.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FreeError {
    /// The address is already free: it was freed twice, or never handed out.
    AlreadyFree {
        /// The address.
        address: u64,
        /// The free block it lies in.
        block: Span,
    },
    /// The address lies inside a region, or in its guard, but is not the region's start.
    Interior {
        /// The address.
        address: u64,
        /// The region, without its guard.
        region: Span,
    },
    /// The region is carved: a sub-space hands out its addresses.
    Carved {
        /// The region, without its guard.
        region: Span,
    },
    /// The region is moving, or the address is held for a region that is.
    Moving {
        /// The region at its old place, without its guard.
        region: Span,
    },
    /// The region that starts there has other addresses than [`free_exact`](crate::AddressSpace::free_exact) was given.
    OtherSpan {
        /// The addresses that were given.
        span: Span,
        /// The region, without its guard.
        region: Span,
    },
    /// The address does not belong to the space.
    Unknown {
        /// The address.
        address: u64,
    },
    /// No memory for the index.
    OutOfMemory,
}

debug_hex! { FreeError {
    AlreadyFree { address: hex, block };
    Interior { address: hex, region };
    Carved { region };
    Moving { region };
    OtherSpan { span, region };
    Unknown { address: hex };
    OutOfMemory;
} }

error_messages! { FreeError + OutOfMemory {
    Self::AlreadyFree { address, block } =>
        "{address:#x} is free: it lies in {block}, freed twice or never allocated";
    Self::Interior { address, region } => "{address:#x} lies inside {region}, not at its start";
    Self::Carved { region } => "a sub-space was carved from {region}";
    Self::Moving { region } => "a move of {region} is pending";
    Self::OtherSpan { span, region } => "{span} is not the whole of {region}";
    Self::Unknown { address } => "{address:#x} is not an address of this space";
} }

/// The error of a resize. The space is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResizeError {
    /// No region starts at the address.
    Address(FreeError),
    /// The size is invalid, or its addresses are not free.
    Size(AllocError),
}

error_messages! { ResizeError {
    Self::Address(error) => "{error}";
    Self::Size(error) => "{error}";
} }

impl From<FreeError> for ResizeError {
    fn from(error: FreeError) -> Self {
        Self::Address(error)
    }
}

impl From<AllocError> for ResizeError {
    fn from(error: AllocError) -> Self {
        Self::Size(error)
    }
}

impl<T> From<Rejected<T>> for AllocError {
    fn from(rejected: Rejected<T>) -> Self {
        rejected.cause
    }
}

/// The error of an operation that returns the value passed to it.
pub type Rejected<T, E = AllocError> = freehold_units::Rejected<T, E>;
