//! Why an operation was refused: one small enum per question, each carrying what is in the way.

mod moves;
#[cfg(feature = "std")]
mod shared;
mod sub_space;

use freehold_units::{Align, Bytes, Span, error_messages};

pub use moves::MoveError;
#[cfg(feature = "std")]
pub use shared::SharedError;
pub use sub_space::{AdoptError, ReturnError};

/// Why a space was not laid out, or its layout not changed. The space is unchanged.
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
    /// A span shares addresses with what the space has already.
    Overlap {
        /// The span that was given second.
        span: Span,
        /// The free block or region that it meets.
        block: Span,
    },
    /// A layout of no span at all, or all of a space that was to be taken away.
    Empty,
    /// Addresses that were to be taken away belong to a region, or to the guard or new place of one.
    Occupied {
        /// The region, without its guard.
        region: Span,
    },
    /// Addresses that were to be taken away are not all in the space.
    Outside {
        /// The span.
        span: Span,
        /// From the lowest to the highest address of the space.
        space: Span,
    },
    /// A sub-space has the addresses that it was carved with, and no others.
    SubSpace {
        /// What it was carved with.
        space: Span,
    },
    /// More addresses than a pooled space can have.
    TooLarge {
        /// The span.
        span: Span,
        /// The most that there may be with its granule, in bytes.
        most_bytes: u128,
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
} }

/// Why a request was not served. The space is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AllocError {
    /// A size of 0, or a request for no area at all.
    ZeroSize,
    /// The size or the guard is not a multiple of the granule.
    NotGranular {
        /// The size or guard, in bytes.
        size_bytes: u64,
        /// The granule it must be a multiple of.
        granule: Align,
    },
    /// An alignment that is no power of two.
    NotPowerOfTwo {
        /// The alignment, in bytes.
        align_bytes: u64,
    },
    /// Size and guard together pass 2^64 - 1 bytes, or the last address.
    SizeOverflow,
    /// A guard of 2^31 granules or more.
    GuardTooLarge {
        /// The guard asked for, in bytes.
        guard_bytes: u64,
    },
    /// A window that ends before it starts.
    WindowEmpty {
        /// Its lowest address.
        first: u64,
        /// Its highest address, below the lowest.
        last: u64,
    },
    /// The window has no address of the space.
    WindowOutside {
        /// The window asked for.
        window: Span,
        /// The whole space.
        space: Span,
    },
    /// A fixed place has addresses that the space was never given: beyond its ends, or in a hole of its layout.
    PlaceOutside {
        /// The place asked for.
        place: Span,
        /// The whole space, holes included.
        space: Span,
    },
    /// A fixed place does not start and end on multiples of the granule.
    PlaceNotGranular {
        /// The place asked for.
        place: Span,
        /// The granule it must be made of.
        granule: Align,
    },
    /// An area of a congruent request does not start and end on multiples of the granule.
    AreaNotGranular {
        /// Its position in the request.
        area: usize,
        /// The granule it must be made of.
        granule: Align,
    },
    /// A region, or its guard, is where the request had to lie: at a fixed place, or in a window that leaves no
    /// choice. Whose it is, [`region_at`](crate::AddressSpace::region_at) tells at any of the region's addresses.
    Occupied {
        /// The region in the way, without its guard; the highest if there are several.
        region: Span,
    },
    /// Two areas of one request overlap each other.
    AreasOverlap {
        /// Position of the first of them in the request.
        area: usize,
        /// Position of the other.
        other: usize,
    },
    /// More than there is of the space within the window, free or not.
    TooLarge {
        /// Size with guard, in bytes; of a congruent request, from the lowest area to the highest.
        size_bytes: u64,
        /// Bytes that the window has of the space.
        room_bytes: u64,
    },
    /// No multiple of the alignment lies in the window and the space with room for the size behind it, free or
    /// not: an alignment larger than the space, above all.
    NoMultiple {
        /// Size with guard, in bytes; of a congruent request, of all areas.
        size_bytes: u64,
        /// The alignment that counted: the request's or the granule, whichever is larger.
        align: Align,
        /// Where a multiple had to lie: the part of the window between the ends of the space.
        window: Span,
    },
    /// No free block can hold the request, though the space could if less were taken, or if its layout had no
    /// holes.
    NoSpace {
        /// Size with guard, in bytes.
        size_bytes: u64,
        /// The alignment that counted: the request's or the granule, whichever is larger.
        align: Align,
        /// Where it had to lie: the part of the window between the ends of the space.
        window: Span,
        /// The largest free block of the whole space, in bytes.
        largest_free_bytes: u64,
    },
    /// No memory for the index.
    OutOfMemory,
}

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
    Self::TooLarge { size_bytes, room_bytes } =>
        "{} is more than the {} there are",
        Bytes::from(*size_bytes).beside(*room_bytes), Bytes::from(*room_bytes).beside(*size_bytes);
    Self::NoMultiple { size_bytes, align, window } =>
        "no multiple of {align} in {window} has {} behind it", Bytes::from(*size_bytes);
    Self::NoSpace { size_bytes, align, window, largest_free_bytes } =>
        "no room for {} aligned to {align} in {window}; the largest free block has {}",
        Bytes::from(*size_bytes).beside(*largest_free_bytes), Bytes::from(*largest_free_bytes).beside(*size_bytes);
} }

/// Why nothing was freed. The space is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FreeError {
    /// The address is free already: freed twice, or never handed out.
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
    /// The region is moving, or the address is kept for one that is.
    Moving {
        /// The region where it was, without its guard.
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

error_messages! { FreeError + OutOfMemory {
    Self::AlreadyFree { address, block } =>
        "{address:#x} is free: it lies in {block}, freed twice or never allocated";
    Self::Interior { address, region } => "{address:#x} lies inside {region}, not at its start";
    Self::Carved { region } => "a sub-space was carved from {region}";
    Self::Moving { region } => "a move of {region} is pending";
    Self::Unknown { address } => "{address:#x} is not an address of this space";
} }

/// Why a region was not resized. The space is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResizeError {
    /// No region starts at the address.
    Address(FreeError),
    /// The size or place cannot be had.
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

/// A refused operation, with what was handed in for it.
pub type Rejected<T, E = AllocError> = freehold_units::Rejected<T, E>;
