//! Errors of cutting regions, merging them, and freeing parts of them.

use super::FreeError;
use freehold_units::{Align, Span, debug_hex, error_messages};

/// The error of cutting a region in two. The space is unchanged.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SplitError {
    /// No region contains the address, or the one that does is carved or moving.
    Address(FreeError),
    /// The address is not a multiple of the granule.
    NotGranular {
        /// The address.
        address: u64,
        /// The granule it must be a multiple of.
        granule: Align,
    },
    /// The region starts at the address, so nothing of it lies below.
    AtStart {
        /// The region, without its guard.
        region: Span,
    },
    /// The address lies in a guard, which belongs to the end of its region.
    InGuard {
        /// The address.
        address: u64,
        /// The region, without its guard.
        region: Span,
    },
    /// No memory for the index.
    OutOfMemory,
}

debug_hex! { SplitError {
    Address(error);
    NotGranular { address: hex, granule };
    AtStart { region };
    InGuard { address: hex, region };
    OutOfMemory;
} }

error_messages! { SplitError + OutOfMemory {
    Self::Address(error) => "{error}";
    Self::NotGranular { address, granule } => "{address:#x} is not a multiple of the granule, {granule}";
    Self::AtStart { region } => "{region} has nothing below its start";
    Self::InGuard { address, region } => "{address:#x} lies in the guard of {region}";
} }

impl From<FreeError> for SplitError {
    fn from(error: FreeError) -> Self {
        match error {
            FreeError::OutOfMemory => Self::OutOfMemory,
            error => Self::Address(error),
        }
    }
}

/// The error of merging a region with the next one. The space is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// No region starts at the address, or one of the two is carved or moving.
    Address(FreeError),
    /// No region starts where the region ends.
    NoNeighbour {
        /// The region, without its guard.
        region: Span,
    },
    /// The region has a guard, which lies between it and the next one.
    Guarded {
        /// The region, without its guard.
        region: Span,
        /// The guard.
        guard: Span,
    },
    /// The values of the two regions do not agree.
    Disagree {
        /// The region, without its guard.
        region: Span,
        /// The next region, without its guard.
        next: Span,
    },
}

error_messages! { MergeError {
    Self::Address(error) => "{error}";
    Self::NoNeighbour { region } => "no region starts where {region} ends";
    Self::Guarded { region, guard } => "{region} ends with a guard, {guard}";
    Self::Disagree { region, next } => "the values of {region} and {next} do not agree";
} }

impl From<FreeError> for MergeError {
    fn from(error: FreeError) -> Self {
        Self::Address(error)
    }
}

/// The error of freeing a range. The space is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FreeRangeError {
    /// The range does not start and end on multiples of the granule.
    NotGranular {
        /// The range.
        span: Span,
        /// The granule it must be made of.
        granule: Align,
    },
    /// A region in the range is carved: a sub-space hands out its addresses. The lowest one, if there are several.
    Carved {
        /// The region, without its guard.
        region: Span,
    },
    /// A region in the range is moving, or the range has addresses that are held for a region that is.
    Moving {
        /// The region at its old place, without its guard.
        region: Span,
    },
    /// No memory for the index, or for the list of freed regions.
    OutOfMemory,
}

error_messages! { FreeRangeError + OutOfMemory {
    Self::NotGranular { span, granule } => "{span} is not made of granules of {granule}";
    Self::Carved { region } => "a sub-space was carved from {region}";
    Self::Moving { region } => "a move of {region} is pending";
} }
