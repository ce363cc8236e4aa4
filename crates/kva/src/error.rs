//! Why an operation was refused: one small enum per question, each carrying what is in the way.

mod sub_space;

use core::fmt;
use freehold_units::{Align, Bytes, OutOfMemory, Span};

pub use sub_space::{AdoptError, ReturnError};

/// Why a space could not be laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// A layout of no span at all.
    Empty,
    /// A sub-space has the addresses that it was carved with, and no others.
    SubSpace {
        /// What it was carved with.
        space: Span,
    },
    /// No memory for the index.
    OutOfMemory,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotGranular { span, granule } => write!(f, "{span} is not made of granules of {granule}"),
            Self::Overlap { span, block } => write!(f, "{span} overlaps {block}"),
            Self::Empty => f.write_str("a space needs at least one span"),
            Self::SubSpace { space } => write!(f, "a sub-space stays {space}"),
            Self::OutOfMemory => OutOfMemory.fmt(f),
        }
    }
}

impl core::error::Error for LayoutError {}

impl From<OutOfMemory> for LayoutError {
    fn from(_: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

/// Why a request was not served. The space is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        /// Where a multiple had to lie.
        window: Span,
    },
    /// No free block can hold the request, though the space could if less were taken, or if its layout had no
    /// holes.
    NoSpace {
        /// Size with guard, in bytes.
        size_bytes: u64,
        /// The alignment that counted: the request's or the granule, whichever is larger.
        align: Align,
        /// Where it had to lie.
        window: Span,
        /// The largest free block of the whole space, in bytes.
        largest_free_bytes: u64,
    },
    /// No memory for the index.
    OutOfMemory,
}

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ZeroSize => f.write_str("size is 0"),
            Self::NotGranular { size_bytes, granule } => {
                write!(f, "{size_bytes} bytes is not a multiple of the granule, {granule}")
            }
            Self::SizeOverflow => f.write_str("size with guard passes 2^64 - 1 bytes"),
            Self::GuardTooLarge { guard_bytes } => {
                write!(f, "a guard of {} is 2^31 granules or more", Bytes::from(guard_bytes))
            }
            Self::WindowEmpty { first, last } => {
                write!(f, "a window from {first:#x} to {last:#x} is empty")
            }
            Self::WindowOutside { window, space } => write!(f, "window {window} lies outside {space}"),
            Self::PlaceOutside { place, space } => write!(f, "{place} is not all in the space, {space}"),
            Self::PlaceNotGranular { place, granule } => {
                write!(f, "{place} is not made of granules of {granule}")
            }
            Self::AreaNotGranular { area, granule } => {
                write!(f, "area {area} is not made of granules of {granule}")
            }
            Self::Occupied { region } => write!(f, "{region} is in the way"),
            Self::AreasOverlap { area, other } => write!(f, "areas {area} and {other} overlap"),
            Self::TooLarge { size_bytes, room_bytes } => {
                let (size, room) = (Bytes::from(size_bytes), Bytes::from(room_bytes));
                write!(f, "{size} is more than the {room} there are")
            }
            Self::NoMultiple { size_bytes, align, window } => {
                let size = Bytes::from(size_bytes);
                write!(f, "no multiple of {align} in {window} has {size} behind it")
            }
            Self::NoSpace { size_bytes, align, window, largest_free_bytes } => write!(
                f,
                "no room for {} aligned to {align} in {window}; the largest free block has {}",
                Bytes::from(size_bytes),
                Bytes::from(largest_free_bytes)
            ),
            Self::OutOfMemory => OutOfMemory.fmt(f),
        }
    }
}

impl core::error::Error for AllocError {}

impl From<OutOfMemory> for AllocError {
    fn from(_: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

/// A refused operation, with what was handed in for it: the value that an allocation was to store, the sub-space
/// that was to be taken back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rejected<T, E = AllocError> {
    /// What was handed in, handed back.
    pub value: T,
    /// Why.
    pub cause: E,
}

impl<T, E: fmt::Debug> fmt::Debug for Rejected<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejected").field("cause", &self.cause).finish_non_exhaustive()
    }
}

impl<T, E: fmt::Display> fmt::Display for Rejected<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl<T, E: core::error::Error> core::error::Error for Rejected<T, E> {}

/// Why nothing was freed. The space is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// The address does not belong to the space.
    Unknown {
        /// The address.
        address: u64,
    },
    /// No memory for the index.
    OutOfMemory,
}

impl fmt::Display for FreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlreadyFree { address, block } => {
                write!(f, "{address:#x} is free: it lies in {block}, freed twice or never allocated")
            }
            Self::Interior { address, region } => {
                write!(f, "{address:#x} lies inside {region}, not at its start")
            }
            Self::Carved { region } => write!(f, "a sub-space was carved from {region}"),
            Self::Unknown { address } => write!(f, "{address:#x} is not an address of this space"),
            Self::OutOfMemory => OutOfMemory.fmt(f),
        }
    }
}

impl core::error::Error for FreeError {}

impl From<OutOfMemory> for FreeError {
    fn from(_: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

/// Why a region was not resized or moved. The space is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResizeError {
    /// No region starts at the address.
    Address(FreeError),
    /// The size or place cannot be had.
    Size(AllocError),
}

impl fmt::Display for ResizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(error) => error.fmt(f),
            Self::Size(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ResizeError {}

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

/// What `validate()` found: the number of an invariant of `INVARIANTS.md` and where it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The invariant, such as `K3`.
    pub invariant: &'static str,
    /// What it says.
    pub rule: &'static str,
    /// The address at which it fails.
    pub address: u64,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} broken at {:#x}: {}", self.invariant, self.address, self.rule)
    }
}

impl core::error::Error for Broken {}

/// `Ok` if `holds`, else the broken invariant.
pub(crate) fn check(
    holds: bool,
    invariant: &'static str,
    rule: &'static str,
    address: u64,
) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(Broken { invariant, rule, address }) }
}
