//! Errors of moving regions.

use super::{AllocError, FreeError};
use freehold_units::{Align, Span, debug_hex, error_messages};

/// The error of a move. The space is unchanged.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MoveError {
    /// No region starts at the address, or it is carved or moving.
    Address(FreeError),
    /// The new place is not free.
    Place(AllocError),
    /// The region is already at that place.
    SamePlace {
        /// The region, without its guard.
        region: Span,
    },
    /// The new place is not at a multiple of the alignment that the region was allocated with.
    Misaligned {
        /// The region, without its guard.
        region: Span,
        /// The new place, guard included.
        place: Span,
        /// The region's alignment.
        align: Align,
    },
    /// The new place extends past the address `u64::MAX`.
    PastTheEnd {
        /// The region, without its guard.
        region: Span,
        /// The start of the place.
        first: u64,
    },
    /// The new place is longer or shorter than the region.
    OtherSize {
        /// The region, without its guard.
        region: Span,
        /// The place that was given.
        place: Span,
    },
    /// The request moves a region to two places at once.
    Twice {
        /// The region, without its guard.
        region: Span,
    },
    /// The request moves two regions to places that overlap.
    PlacesOverlap {
        /// The first place, guard included.
        place: Span,
        /// The other place, guard included.
        other: Span,
    },
    /// The move was committed or cancelled before.
    Ended {
        /// The start of its region before the move.
        first: u64,
    },
    /// The move was begun on another space.
    Foreign {
        /// The start of its region in that space.
        first: u64,
    },
    /// No memory for the index.
    OutOfMemory,
}

debug_hex! { MoveError {
    Address(error);
    Place(error);
    SamePlace { region };
    Misaligned { region, place, align };
    PastTheEnd { region, first: hex };
    OtherSize { region, place };
    Twice { region };
    PlacesOverlap { place, other };
    Ended { first: hex };
    Foreign { first: hex };
    OutOfMemory;
} }

error_messages! { MoveError + OutOfMemory {
    Self::Address(error) => "{error}";
    Self::Place(error) => "{error}";
    Self::SamePlace { region } => "{region} is there already";
    Self::Misaligned { region, place, align } =>
        "{place} does not start at a multiple of {align}, as {region} must";
    Self::PastTheEnd { region, first } => "from {first:#x} on, {region} would pass the last address";
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
