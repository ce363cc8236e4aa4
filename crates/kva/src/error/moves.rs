//! Why a region was not moved.

use super::{AllocError, FreeError};
use freehold_units::{Align, Span, error_messages};

/// Why regions stayed where they were, or a move as it was. The space is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MoveError {
    /// No region starts at the address, or it is carved or moving.
    Address(FreeError),
    /// The new place cannot be had.
    Place(AllocError),
    /// The region is there already.
    SamePlace {
        /// The region, without its guard.
        region: Span,
    },
    /// The new place is not at a multiple of the alignment that the region was allocated with.
    Misaligned {
        /// The new place, guard included.
        place: Span,
        /// The region's alignment.
        align: Align,
    },
    /// The new place passes the last address there is.
    PastTheEnd {
        /// Where it starts.
        first: u64,
    },
    /// The new place is longer or shorter than the region.
    OtherSize {
        /// The region, without its guard.
        region: Span,
        /// The place that was given.
        place: Span,
    },
    /// One region is to move to two places at once.
    Twice {
        /// The region, without its guard.
        region: Span,
    },
    /// Two regions are to move to places that overlap.
    PlacesOverlap {
        /// One place, guard included.
        place: Span,
        /// The other.
        other: Span,
    },
    /// The move was committed or cancelled before.
    Ended {
        /// Where its region started.
        first: u64,
    },
    /// The move was begun on another space.
    Foreign {
        /// Where its region starts there.
        first: u64,
    },
    /// No memory for the index.
    OutOfMemory,
}

error_messages! { MoveError + OutOfMemory {
    Self::Address(error) => "{error}";
    Self::Place(error) => "{error}";
    Self::SamePlace { region } => "{region} is there already";
    Self::Misaligned { place, align } => "{place} does not start at a multiple of {align}";
    Self::PastTheEnd { first } => "from {first:#x} on the region would pass the last address";
    Self::OtherSize { region, place } => "{place} is not as long as {region}";
    Self::Twice { region } => "{region} cannot move to two places at once";
    Self::PlacesOverlap { place, other } => "the new places {place} and {other} overlap";
    Self::Ended { first } => "the move of {first:#x} was committed or cancelled before";
    Self::Foreign { first } => "the move of {first:#x} was begun on another space";
} }

impl From<FreeError> for MoveError {
    fn from(error: FreeError) -> Self {
        Self::Address(error)
    }
}

impl From<AllocError> for MoveError {
    fn from(error: AllocError) -> Self {
        match error {
            AllocError::OutOfMemory => Self::OutOfMemory,
            error => Self::Place(error),
        }
    }
}
